-- No rows. Deletes unused reservations.
DELETE FROM ratchet.idempotency i USING unnest($1::text[], $2::text[]) AS k(scope, key)
WHERE i.scope = k.scope AND i.key = k.key
