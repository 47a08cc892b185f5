-- An operation.
SELECT record FROM ratchet_operation WHERE id = ?1
