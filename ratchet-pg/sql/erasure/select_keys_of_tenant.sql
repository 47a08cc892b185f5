-- Idempotency keys of a scope whose jobs and graphs are not stored anymore.
SELECT i.scope, i.key, i.job FROM ratchet.idempotency i
WHERE i.scope = $1
    AND NOT EXISTS (SELECT FROM ratchet.job j WHERE j.id = i.job OFFSET 0)
    AND NOT EXISTS (SELECT FROM ratchet_archive.job a WHERE a.id = i.job OFFSET 0)
    AND NOT EXISTS (SELECT FROM ratchet.job_group g WHERE g.id = i.job OFFSET 0)
ORDER BY i.scope, i.key LIMIT $2
