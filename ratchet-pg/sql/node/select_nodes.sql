-- Nodes with a valid lease, and nodes that still hold jobs.
SELECT n.*, n.until > c.now AS alive
FROM ratchet.node n, (SELECT ratchet.now_micros() AS now) c
WHERE n.until > c.now OR EXISTS (SELECT FROM ratchet.lease l WHERE l.node = n.id AND l.remaining > 0)
ORDER BY n.id
