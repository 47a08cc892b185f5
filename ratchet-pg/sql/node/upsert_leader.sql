-- One row if the node is the leader. A node without a valid lease cannot lead, and loses the leadership. The lock makes a node that leaves at the
-- same moment wait, so that it cannot become the leader after it has left.
WITH alive AS (
    SELECT n.id FROM ratchet.node n WHERE n.id = $1 AND n.until > ratchet.now_micros() FOR SHARE
)
INSERT INTO ratchet.leader AS l (node, until)
SELECT a.id, LEAST(c.now + $2, 253402207200999999) FROM alive a, (SELECT ratchet.now_micros() AS now) c
ON CONFLICT (one) DO UPDATE SET node = EXCLUDED.node, until = EXCLUDED.until
WHERE l.node = EXCLUDED.node OR l.until <= ratchet.now_micros()
    OR NOT EXISTS (SELECT FROM ratchet.node n WHERE n.id = l.node AND n.until > ratchet.now_micros())
RETURNING l.node
