-- One row. Waits until no other transaction changes partitions, and keeps others from it until the end of the transaction.
SELECT pg_advisory_xact_lock(hashtextextended(__HOME__ || ' parts', 0))
