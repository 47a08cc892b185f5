-- The recorded uses of these keys, and whether they have expired.
SELECT i.scope, i.key, i.job, i.name, i.digest, COALESCE(i.expires <= ratchet.now_micros(), false) AS expired
FROM unnest($1::text[], $2::text[]) AS k(scope, key) JOIN ratchet.idempotency i USING (scope, key)
