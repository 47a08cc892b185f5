-- The version of a schedule.
SELECT version FROM ratchet_schedule WHERE name = ?1
