-- No rows. Ensures that there is a row to lock.
INSERT INTO ratchet.breaker (service, closed, breaker) VALUES ($1, true, $2) ON CONFLICT DO NOTHING
