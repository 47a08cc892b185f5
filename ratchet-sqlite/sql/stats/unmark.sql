-- Removes the mark of a slot.
DELETE FROM ratchet_stat_mark WHERE tier = ?1 AND slot = ?2
