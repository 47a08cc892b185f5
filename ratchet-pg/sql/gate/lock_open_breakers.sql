-- The breakers that are not closed, locked in a fixed order, so that one claim at a time decides on the next probes.
SELECT service, breaker FROM ratchet.breaker WHERE NOT closed ORDER BY service FOR UPDATE
