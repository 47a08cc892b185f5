-- No rows. Deletes the states of keys that have no counted claim in the period. Those in use by another transaction are left to the next call.
DELETE FROM ratchet.key_rate WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM ratchet.key_rate WHERE ends <= (SELECT ratchet.now_micros())
    ORDER BY ends LIMIT 10000 FOR UPDATE SKIP LOCKED
))
