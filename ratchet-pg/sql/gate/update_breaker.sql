-- No rows. Updates the breaker of a service.
UPDATE ratchet.breaker SET closed = $2, until = $3, breaker = $4 WHERE service = $1
