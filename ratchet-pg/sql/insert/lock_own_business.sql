-- The keys of these that the jobs named with them hold already: locked, so that nothing frees them any more.
SELECT b.scope, b.key, b.job
FROM unnest($1::text[], $2::text[], $3::uuid[]) AS k(scope, key, job) JOIN ratchet.business b USING (scope, key, job)
ORDER BY b.scope, b.key FOR UPDATE OF b
