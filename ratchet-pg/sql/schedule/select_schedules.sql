-- All schedules, ordered by name.
SELECT version, body FROM ratchet.schedule ORDER BY name COLLATE "C"
