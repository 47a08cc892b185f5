-- Moves the end of the audit trail.
INSERT INTO ratchet_audit_head (one, number, hash) VALUES (1, ?1, ?2)
ON CONFLICT (one) DO UPDATE SET number = excluded.number, hash = excluded.hash
