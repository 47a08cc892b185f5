-- No rows. Moves the end of the audit trail.
UPDATE ratchet.audit_head SET number = $1, hash = $2 WHERE one
