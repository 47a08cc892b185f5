-- Expires the lease of a node that leaves.
UPDATE ratchet_node SET lease_until = min(lease_until, ?2) WHERE id = ?1
