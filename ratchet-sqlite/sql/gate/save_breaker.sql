-- Inserts or updates the breaker of a service.
INSERT INTO ratchet_breaker (service, closed, breaker) VALUES (?1, ?2, ?3)
ON CONFLICT (service) DO UPDATE SET closed = excluded.closed, breaker = excluded.breaker
