-- Deletes idempotency keys that have expired.
DELETE FROM ratchet_ledger WHERE expires <= ?1
