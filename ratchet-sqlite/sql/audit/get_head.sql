-- The end of the audit trail.
SELECT number, hash FROM ratchet_audit_head WHERE one = 1
