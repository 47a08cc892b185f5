-- No rows. Deletes the digests of idempotency keys that have expired.
DELETE FROM ratchet.erased_key WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM ratchet.erased_key WHERE expires <= (SELECT ratchet.now_micros())
    ORDER BY expires LIMIT 10000 FOR UPDATE SKIP LOCKED
))
