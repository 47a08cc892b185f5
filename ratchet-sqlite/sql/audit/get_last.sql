-- The last entry of the audit trail.
SELECT number, hash FROM ratchet_audit ORDER BY number DESC LIMIT 1
