-- Nodes with a valid lease, and nodes that still hold jobs.
SELECT n.id, n.joined_at, n.until, n.pid, n.host, n.binary_version, n.queues, n.names, n.versions, n.program,
    n.declarations,
    n.until > c.now AS alive, (SELECT r.request FROM ratchet.node_request r WHERE r.node = n.id) AS request
FROM ratchet.node n, (SELECT ratchet.now_micros() AS now) c
WHERE n.until > c.now OR EXISTS (SELECT FROM ratchet.lease l WHERE l.node = n.id AND l.remaining > 0)
ORDER BY n.id
