-- The state of a queue in a slot.
SELECT slot, queue, at, depth, running, paused, failed, blocked_by, oldest_age
FROM ratchet_gauge WHERE tier = ?1 AND slot = ?2 AND queue = ?3
