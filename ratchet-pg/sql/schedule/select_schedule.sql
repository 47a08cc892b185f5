-- The schedule with this name.
SELECT version, body FROM ratchet.schedule WHERE name = $1
