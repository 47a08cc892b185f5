-- No rows. Deletes idempotency keys that have expired. Those in use by another transaction are left to the next call.
DELETE FROM ratchet.idempotency WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM ratchet.idempotency WHERE expires <= (SELECT ratchet.now_micros())
    ORDER BY expires LIMIT 10000 FOR UPDATE SKIP LOCKED
))
