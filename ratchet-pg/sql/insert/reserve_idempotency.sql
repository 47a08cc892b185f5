-- The keys that were free and are now taken. Sorted, so that two batches never wait for each other in a circle.
INSERT INTO ratchet.idempotency (scope, key, job, name, digest)
SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::bytea[]) AS k(scope, key, job, name, digest)
ORDER BY scope, key
ON CONFLICT DO NOTHING
RETURNING scope, key
