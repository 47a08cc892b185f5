-- All breakers.
SELECT service, breaker FROM ratchet_breaker ORDER BY service
