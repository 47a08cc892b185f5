-- An operation, locked.
SELECT record FROM ratchet.operation WHERE id = $1 FOR UPDATE
