-- All schedules, ordered by name.
SELECT version, body FROM ratchet_schedule ORDER BY name
