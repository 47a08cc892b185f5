-- No rows. Deletes idempotency keys that have expired. Those in use by another transaction are left to the next call.
DELETE FROM ratchet.idempotency i USING (
    SELECT scope, key FROM ratchet.idempotency WHERE expires <= (SELECT ratchet.now_micros())
    ORDER BY expires LIMIT 10000 FOR UPDATE SKIP LOCKED
) AS old WHERE i.scope = old.scope AND i.key = old.key
