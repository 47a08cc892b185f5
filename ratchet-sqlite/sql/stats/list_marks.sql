-- The first marked slots.
SELECT tier, slot FROM ratchet_stat_mark ORDER BY tier, slot LIMIT ?1
