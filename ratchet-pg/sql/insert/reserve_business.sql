-- The keys that were free and are now reserved. Sorted, so that two batches do not deadlock.
INSERT INTO ratchet.business (scope, key, job)
SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[]) AS k(scope, key, job)
ORDER BY scope, key
ON CONFLICT DO NOTHING
RETURNING scope, key
