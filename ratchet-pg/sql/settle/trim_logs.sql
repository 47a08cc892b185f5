-- No rows. Deletes all but the newest lines of each log.
DELETE FROM ratchet.log l USING unnest($1::uuid[]) AS x(job)
WHERE l.job = x.job AND l.line <= (
    SELECT o.line FROM ratchet.log o WHERE o.job = x.job ORDER BY o.line DESC OFFSET $2 LIMIT 1
)
