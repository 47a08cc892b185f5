-- The keys that were free and are now held. Sorted, so that two batches never wait for each other in a circle.
INSERT INTO ratchet.business (scope, key, job)
SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[]) AS k(scope, key, job)
ORDER BY scope, key
ON CONFLICT DO NOTHING
RETURNING scope, key
