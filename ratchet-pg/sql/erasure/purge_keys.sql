-- No rows. Deletes idempotency keys of a scope that begin with a text and were used this long ago, at most a number.
DELETE FROM ratchet.idempotency WHERE ctid = ANY (ARRAY (
    SELECT i.ctid FROM ratchet.idempotency i
    WHERE i.scope = $1 AND starts_with(i.key, $2) AND i.job < (SELECT ratchet.id_at(ratchet.now_micros() - $3))
    LIMIT $4 FOR UPDATE SKIP LOCKED
))
