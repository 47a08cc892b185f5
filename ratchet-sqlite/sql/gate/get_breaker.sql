-- The breaker of a service.
SELECT breaker FROM ratchet_breaker WHERE service = ?1
