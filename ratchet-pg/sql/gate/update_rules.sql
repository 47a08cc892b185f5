-- No rows. Updates the rules of a queue.
UPDATE ratchet.queue SET limited = $2, rules = $3 WHERE name = $1
