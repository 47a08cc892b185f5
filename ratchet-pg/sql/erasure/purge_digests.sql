-- No rows. Deletes digests of idempotency keys that were used this long ago, at most a number.
DELETE FROM ratchet.erased_key WHERE ctid = ANY (ARRAY (
    SELECT e.ctid FROM ratchet.erased_key e
    WHERE e.job < (SELECT ratchet.id_at(ratchet.now_micros() - $1)) LIMIT $2 FOR UPDATE SKIP LOCKED
))
