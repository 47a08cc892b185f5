-- No rows: a new schedule. Of two that make it at once, one fails and looks again.
INSERT INTO ratchet.schedule (name, version, next, paused, body) VALUES ($1, $2, $3, $4, $5)
