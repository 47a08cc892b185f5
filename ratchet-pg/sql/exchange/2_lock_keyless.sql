-- The leases of the successes, locked in a fixed order. Leases with keys are excluded, because this statement frees no
-- keys.
locked AS MATERIALIZED (SELECT * FROM ratchet.lease WHERE id = ANY($12::uuid[]) AND NOT keyed ORDER BY id FOR UPDATE),
