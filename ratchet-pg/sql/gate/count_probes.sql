-- One row: the number of running probes of this opening of a breaker.
SELECT count(*) FROM ratchet.slot WHERE key = $1 AND probe
