-- The end of the audit trail, locked.
SELECT number, hash FROM ratchet.audit_head WHERE one FOR UPDATE
