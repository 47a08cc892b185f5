-- Inserts or updates a schedule.
INSERT INTO ratchet_schedule (name, version, next, paused, body) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (name) DO UPDATE SET version = excluded.version, next = excluded.next, paused = excluded.paused, body = excluded.body
