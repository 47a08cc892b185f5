-- The state of a concurrency key in a queue with a rate per key.
SELECT state FROM ratchet_key_rate WHERE queue = ?1 AND key = ?2
