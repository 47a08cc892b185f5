-- The holders of these keys.
SELECT b.scope, b.key, b.job
FROM unnest($1::text[], $2::text[]) AS k(scope, key) JOIN ratchet.business b USING (scope, key)
