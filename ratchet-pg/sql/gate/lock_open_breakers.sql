-- The breakers that are not closed, locked in one order: who may send the next probe is decided by one claim at a time.
SELECT service, breaker FROM ratchet.breaker WHERE NOT closed ORDER BY service FOR UPDATE
