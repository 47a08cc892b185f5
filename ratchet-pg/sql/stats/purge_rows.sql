-- No rows. Deletes rows of a tier before a slot, unless the slot above that contains theirs is marked. The last two
-- parameters are the tier above and how many slots make up one of its slots.
DELETE FROM ratchet.stat s WHERE s.ctid = ANY (ARRAY(
    SELECT o.ctid FROM ratchet.stat o
    WHERE o.tier = $1 AND o.slot < $2 AND NOT EXISTS (
        SELECT FROM ratchet.stat_mark m WHERE m.tier = $4 AND m.slot = o.slot / $5
    )
    LIMIT $3
))
