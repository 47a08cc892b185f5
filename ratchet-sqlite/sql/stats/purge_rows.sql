-- Deletes rows of a tier before a slot, unless the slot above that contains theirs is marked. The last two parameters are
-- the tier above and how many slots make up one of its slots.
DELETE FROM ratchet_stat
WHERE (tier, slot, queue, name, source) IN (
    SELECT tier, slot, queue, name, source FROM ratchet_stat AS old
    WHERE tier = ?1 AND slot < ?2 AND NOT EXISTS (
        SELECT 1 FROM ratchet_stat_mark AS mark WHERE mark.tier = ?4 AND mark.slot = old.slot / ?5
    )
    LIMIT ?3
)
