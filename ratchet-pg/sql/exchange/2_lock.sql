-- The leases of the successes, locked in a fixed order. A transaction that removes a member without an outcome rewrites
-- the row of the lease, so a settlement that waited for the lock sees the change.
locked AS MATERIALIZED (SELECT * FROM ratchet.lease WHERE id = ANY($12::uuid[]) ORDER BY id FOR UPDATE),
