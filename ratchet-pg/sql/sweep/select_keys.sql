-- Business keys after a position, in order, and whether they are leaked: their job has ended or no longer exists, and
-- has no lingering run.
SELECT b.scope, b.key, b.job,
    NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = b.job) AND (
        EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = b.job OFFSET 0)
        OR NOT EXISTS (SELECT FROM ratchet.job j WHERE j.id = b.job OFFSET 0)
    ) AS odd
FROM (
    SELECT b.scope, b.key, b.job FROM ratchet.business b WHERE (b.scope, b.key) > ($1, $2) ORDER BY b.scope, b.key LIMIT 1000
) b
