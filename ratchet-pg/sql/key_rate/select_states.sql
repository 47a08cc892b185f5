-- The states of these concurrency keys in a queue with a rate per key.
SELECT key, state FROM ratchet.key_rate WHERE queue = $1 AND key = ANY($2::text[])
