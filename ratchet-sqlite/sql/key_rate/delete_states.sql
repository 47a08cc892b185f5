-- Deletes the states of a queue that has no rate per key any more.
DELETE FROM ratchet_key_rate WHERE queue = ?1
