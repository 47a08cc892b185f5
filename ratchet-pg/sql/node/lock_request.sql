-- One row: the lock of what operators request of a node is held until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended(__SCOPE__ || 'node request ' || $1::uuid::text, 0))
