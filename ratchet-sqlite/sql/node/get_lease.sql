-- Until when a node's lease holds.
SELECT lease_until FROM ratchet_node WHERE id = ?1
