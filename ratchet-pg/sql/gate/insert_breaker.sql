-- No rows: there is something to be locked.
INSERT INTO ratchet.breaker (service, closed, breaker) VALUES ($1, true, $2) ON CONFLICT DO NOTHING
