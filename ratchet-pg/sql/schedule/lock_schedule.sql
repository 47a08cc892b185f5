-- The version of a schedule, locked. No row if it does not exist.
SELECT version FROM ratchet.schedule WHERE name = $1 FOR UPDATE
