-- The recorded uses of these keys.
SELECT i.scope, i.key, i.job, i.name, i.digest
FROM unnest($1::text[], $2::text[]) AS k(scope, key) JOIN ratchet.idempotency i USING (scope, key)
