-- No rows. Updates a schedule.
UPDATE ratchet.schedule SET version = $2, next = $3, paused = $4, body = $5 WHERE name = $1
