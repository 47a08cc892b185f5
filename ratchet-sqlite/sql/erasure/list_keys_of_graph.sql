-- Idempotency keys between two bounds that a graph has used.
SELECT scoped_key, job FROM ratchet_ledger WHERE scoped_key >= ?1 AND scoped_key < ?2 AND job = ?3
