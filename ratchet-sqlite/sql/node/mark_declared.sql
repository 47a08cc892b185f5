-- Records that a node has called `try_declare`.
UPDATE ratchet_node SET declared = 1 WHERE id = ?1
