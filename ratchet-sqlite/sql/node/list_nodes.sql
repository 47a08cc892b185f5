-- Nodes with a valid lease, and nodes that still hold jobs.
SELECT id, host, pid, binary_version, queues, known, joined_at, lease_until, program, declarations, request
FROM ratchet_node
WHERE lease_until > ?1 OR EXISTS (SELECT 1 FROM ratchet_job WHERE state = 1 AND node = ratchet_node.id)
ORDER BY id
