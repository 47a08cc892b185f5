-- Schedules that are due and not paused, the longest due first.
SELECT version, body FROM ratchet_schedule WHERE paused = 0 AND next IS NOT NULL AND next <= ?1 ORDER BY next, name LIMIT ?2
