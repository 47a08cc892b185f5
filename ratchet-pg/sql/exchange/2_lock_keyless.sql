-- The leases of the successes, locked in one order. One with keys is not found: what this statement settles frees none.
locked AS MATERIALIZED (SELECT * FROM ratchet.lease WHERE id = ANY($12::uuid[]) AND NOT keyed ORDER BY id FOR UPDATE),
