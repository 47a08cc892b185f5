-- The end of a node's lease.
SELECT lease_until FROM ratchet_node WHERE id = ?1
