-- No rows. Replaces an operation.
UPDATE ratchet.operation SET ended_at = $2, record = $3 WHERE id = $1
