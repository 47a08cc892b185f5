-- What an idempotency key was used for.
SELECT job, name, digest FROM ratchet_ledger WHERE scoped_key = ?1
