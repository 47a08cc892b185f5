-- The keys that had expired and are now reserved again. Locked in a fixed order, so that two batches do not deadlock. A
-- key that another transaction has renewed meanwhile is not among them.
WITH expired AS (
    SELECT i.scope, i.key FROM unnest($1::text[], $2::text[]) AS k(scope, key) JOIN ratchet.idempotency i USING (scope, key)
    WHERE i.expires <= (SELECT ratchet.now_micros()) ORDER BY i.scope, i.key FOR UPDATE OF i
)
UPDATE ratchet.idempotency i SET job = k.job, name = k.name, digest = k.digest, expires = ratchet.now_micros() + k.lifetime
FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::bytea[], $6::bigint[]) AS k(scope, key, job, name, digest, lifetime)
JOIN expired USING (scope, key)
WHERE i.scope = k.scope AND i.key = k.key
RETURNING i.scope, i.key
