-- How many idempotency keys are between two bounds, at most a number.
SELECT count(*) FROM (SELECT 1 FROM ratchet_ledger WHERE scoped_key >= ?1 AND scoped_key < ?2 LIMIT ?3)
