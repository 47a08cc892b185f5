-- Schedules that are due and not paused, the longest due first.
SELECT version, body FROM ratchet.schedule
WHERE NOT paused AND next <= ratchet.now_micros() ORDER BY next, name COLLATE "C" LIMIT $1
