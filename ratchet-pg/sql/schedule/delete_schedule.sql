-- No rows: a schedule is no more.
DELETE FROM ratchet.schedule WHERE name = $1
