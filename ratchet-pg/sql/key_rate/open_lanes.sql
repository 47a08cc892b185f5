-- No rows. Lets the next claim consider all lanes of a queue, because its rate per key has changed.
UPDATE ratchet.key_lane SET back = $2 WHERE queue = $1
