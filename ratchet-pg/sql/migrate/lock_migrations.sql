-- One row: the lock is held until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended('ratchet migration', 0))
