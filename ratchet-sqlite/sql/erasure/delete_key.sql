-- One row with the time at which it expires, if this job has used an idempotency key. Deletes it.
DELETE FROM ratchet_ledger WHERE scoped_key = ?1 AND job = ?2 RETURNING expires
