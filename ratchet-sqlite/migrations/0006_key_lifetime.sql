-- Idempotency keys can expire.
ALTER TABLE ratchet_ledger ADD COLUMN expires INTEGER;
CREATE INDEX ratchet_ledger_expires ON ratchet_ledger (expires) WHERE expires IS NOT NULL;
