-- One row if the lease was renewed.
UPDATE ratchet.node n SET until = LEAST(c.now + $2, 253402207200999999)
FROM (SELECT ratchet.now_micros() AS now) c
WHERE n.id = $1 AND n.until > c.now
RETURNING n.id
