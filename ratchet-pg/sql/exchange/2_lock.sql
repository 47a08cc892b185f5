-- The leases of the successes, locked in one order. Whoever takes a member away without an outcome rewrites this row,
-- so a settle that had to wait for the lock sees it.
locked AS MATERIALIZED (SELECT * FROM ratchet.lease WHERE id = ANY($12::uuid[]) ORDER BY id FOR UPDATE),
