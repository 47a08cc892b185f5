-- One row if the node is the leader.
INSERT INTO ratchet.leader AS l (node, until)
SELECT $1, LEAST(c.now + $2, 253402207200999999) FROM (SELECT ratchet.now_micros() AS now) c
ON CONFLICT (one) DO UPDATE SET node = EXCLUDED.node, until = EXCLUDED.until
WHERE l.node = EXCLUDED.node OR l.until <= ratchet.now_micros()
RETURNING l.node
