-- The schedule with this name.
SELECT version, body FROM ratchet_schedule WHERE name = ?
