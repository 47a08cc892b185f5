-- The schedule of this name.
-- $1: its name
SELECT version, body FROM ratchet.schedule WHERE name = $1
