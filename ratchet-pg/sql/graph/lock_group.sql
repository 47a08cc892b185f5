-- The graph of this group, locked.
SELECT g.id FROM ratchet.graph g WHERE g.id = (SELECT o.graph FROM ratchet.job_group o WHERE o.id = $1) FOR UPDATE
