-- All breakers, or the breaker of one service.
SELECT service, breaker FROM ratchet.breaker WHERE $1::text IS NULL OR service = $1 ORDER BY service
