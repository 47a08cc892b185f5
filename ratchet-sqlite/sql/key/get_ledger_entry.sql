-- The recorded use of an idempotency key.
SELECT job, name, digest FROM ratchet_ledger WHERE scoped_key = ?1
