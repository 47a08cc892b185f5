-- The keys that were free and are now reserved. Sorted, so that two batches do not deadlock.
INSERT INTO ratchet.idempotency (scope, key, job, name, digest)
SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::bytea[]) AS k(scope, key, job, name, digest)
ORDER BY scope, key
ON CONFLICT DO NOTHING
RETURNING scope, key
