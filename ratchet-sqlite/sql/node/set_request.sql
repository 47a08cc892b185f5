-- Sets or withdraws what an operator requests of a node.
UPDATE ratchet_node SET request = ?2 WHERE id = ?1
