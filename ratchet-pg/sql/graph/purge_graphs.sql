-- No rows. Deletes graphs without members and groups.
DELETE FROM ratchet.graph g
WHERE g.id = ANY($1::uuid[])
    AND NOT EXISTS (SELECT FROM ratchet.member m WHERE m.graph = g.id)
    AND NOT EXISTS (SELECT FROM ratchet.job_group o WHERE o.graph = g.id)
