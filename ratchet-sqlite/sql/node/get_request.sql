-- What an operator requests of a node with a valid lease.
SELECT request FROM ratchet_node WHERE id = ?1 AND lease_until > ?2
