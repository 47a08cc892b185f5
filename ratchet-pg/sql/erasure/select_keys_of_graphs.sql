-- Idempotency keys of these scopes that these graphs have used.
SELECT i.scope, i.key, i.job FROM unnest($1::text[], $2::uuid[]) AS g(scope, id)
JOIN ratchet.idempotency i ON i.scope = g.scope AND i.job = g.id
