-- The breakers of these services, locked in a fixed order.
SELECT service, breaker FROM ratchet.breaker WHERE service = ANY($1::text[]) ORDER BY service FOR UPDATE
