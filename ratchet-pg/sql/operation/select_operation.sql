-- An operation.
SELECT record FROM ratchet.operation WHERE id = $1
