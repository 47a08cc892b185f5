-- The state of all queues, or one, from one slot up to another.
SELECT slot, queue, at, depth, running, paused, failed, blocked_by, oldest_age
FROM ratchet_gauge
WHERE tier = ?1 AND slot >= ?2 AND slot < ?3 AND (?4 IS NULL OR queue = ?4)
ORDER BY slot, queue
