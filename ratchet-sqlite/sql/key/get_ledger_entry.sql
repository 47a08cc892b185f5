-- The recorded use of an idempotency key.
SELECT job, name, digest, expires FROM ratchet_ledger WHERE scoped_key = ?1
