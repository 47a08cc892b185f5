-- The states of all keys of a queue.
SELECT key, state FROM ratchet_key_rate WHERE queue = ?1
