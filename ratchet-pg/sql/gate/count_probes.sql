-- One row: how many probes of this opening of a breaker are out.
SELECT count(*) FROM ratchet.slot WHERE key = $1 AND probe
