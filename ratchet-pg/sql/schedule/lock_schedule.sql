-- The version of a schedule, if there is one.
SELECT version FROM ratchet.schedule WHERE name = $1 FOR UPDATE
