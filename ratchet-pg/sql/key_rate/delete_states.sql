-- No rows. Deletes the states of a queue that has no rate per key any more.
DELETE FROM ratchet.key_rate WHERE queue = $1
