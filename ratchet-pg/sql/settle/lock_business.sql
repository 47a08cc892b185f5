-- One row per business key that these jobs hold, locked in a fixed order. A later statement decides whether a key is
-- freed, because it sees the changes of the transaction that held the lock before.
SELECT b.job FROM ratchet.business b WHERE b.job = ANY($1::uuid[]) ORDER BY b.scope, b.key FOR UPDATE
