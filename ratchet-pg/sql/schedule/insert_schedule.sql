-- No rows. Inserts a schedule. If two transactions insert it at once, one fails and is retried.
INSERT INTO ratchet.schedule (name, version, next, paused, body) VALUES ($1, $2, $3, $4, $5)
