-- The keys that were free and are now reserved, with the job that used a key before of which only the digest is kept. The
-- function sees what is committed when it is called, so that it finds a digest that has replaced a key meanwhile. Sorted, so
-- that two batches do not deadlock.
INSERT INTO ratchet.idempotency (scope, key, job, name, digest, expires)
SELECT scope, key, job, name, digest, ratchet.now_micros() + lifetime
FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::bytea[], $6::bigint[]) AS k(scope, key, job, name, digest, lifetime)
ORDER BY scope, key
ON CONFLICT DO NOTHING
RETURNING scope, key, ratchet.erased_use(scope, key) AS erased
