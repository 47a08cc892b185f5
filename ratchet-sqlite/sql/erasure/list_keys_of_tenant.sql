-- Idempotency keys between two bounds whose jobs and graphs are not stored anymore.
SELECT scoped_key, job FROM ratchet_ledger
WHERE scoped_key >= ?1 AND scoped_key < ?2
  AND NOT EXISTS (SELECT 1 FROM ratchet_job WHERE id = ratchet_ledger.job)
  AND NOT EXISTS (SELECT 1 FROM ratchet_group WHERE id = ratchet_ledger.job)
ORDER BY scoped_key LIMIT ?3
