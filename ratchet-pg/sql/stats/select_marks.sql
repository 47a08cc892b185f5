-- The first marked slots.
SELECT m.tier, m.slot FROM ratchet.stat_mark m ORDER BY m.tier, m.slot LIMIT $1
