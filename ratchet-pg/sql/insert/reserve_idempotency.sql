-- The keys that were free and are now reserved. Sorted, so that two batches do not deadlock.
INSERT INTO ratchet.idempotency (scope, key, job, name, digest, expires)
SELECT scope, key, job, name, digest, ratchet.now_micros() + lifetime
FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::bytea[], $6::bigint[]) AS k(scope, key, job, name, digest, lifetime)
ORDER BY scope, key
ON CONFLICT DO NOTHING
RETURNING scope, key
