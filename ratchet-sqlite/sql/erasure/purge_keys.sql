-- Deletes idempotency keys between two bounds whose jobs and graphs are older than an id.
DELETE FROM ratchet_ledger WHERE scoped_key IN (
    SELECT scoped_key FROM ratchet_ledger WHERE scoped_key >= ?1 AND scoped_key < ?2 AND job < ?3
    ORDER BY scoped_key LIMIT ?4
)
