-- Writes the state of a queue in a slot, or replaces it.
INSERT OR REPLACE INTO ratchet_gauge
    (tier, slot, queue, at, depth, running, paused, failed, blocked_by, oldest_age)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
