-- One row if the node's lease held.
UPDATE ratchet_node SET lease_until = ?3 WHERE id = ?1 AND lease_until > ?2 RETURNING 1
