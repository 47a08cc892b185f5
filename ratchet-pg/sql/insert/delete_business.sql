-- No rows. Deletes unused reservations.
DELETE FROM ratchet.business b USING unnest($1::text[], $2::text[]) AS k(scope, key)
WHERE b.scope = k.scope AND b.key = k.key
