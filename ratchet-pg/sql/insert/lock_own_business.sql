-- The given keys that are held by the given jobs. Locks them, so that they are not freed.
SELECT b.scope, b.key, b.job
FROM unnest($1::text[], $2::text[], $3::uuid[]) AS k(scope, key, job) JOIN ratchet.business b USING (scope, key, job)
ORDER BY b.scope, b.key FOR UPDATE OF b
