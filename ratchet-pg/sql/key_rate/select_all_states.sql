-- The states of all keys of a queue.
SELECT key, state FROM ratchet.key_rate WHERE queue = $1
