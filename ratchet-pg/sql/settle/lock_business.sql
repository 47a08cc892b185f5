-- One row per business key that these jobs hold: locked in one order. Whether a key may go is judged by a later
-- statement, which sees what the transaction before has done.
SELECT b.job FROM ratchet.business b WHERE b.job = ANY($1::uuid[]) ORDER BY b.scope, b.key FOR UPDATE
