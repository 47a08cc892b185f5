-- One row if the lease was still valid. Renews it.
UPDATE ratchet_node SET lease_until = ?3 WHERE id = ?1 AND lease_until > ?2 RETURNING request
