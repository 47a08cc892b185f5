-- The groups in a group, newest first, older than one.
SELECT g.body, g.id FROM ratchet.job_group g WHERE g.owner = $3 AND g.id < $1 ORDER BY g.id DESC LIMIT $2
