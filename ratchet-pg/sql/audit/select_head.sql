-- The end of the audit trail.
SELECT number, hash FROM ratchet.audit_head WHERE one
