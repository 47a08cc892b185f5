-- Every breaker, or the one that is asked for.
SELECT service, breaker FROM ratchet.breaker WHERE $1::text IS NULL OR service = $1 ORDER BY service
