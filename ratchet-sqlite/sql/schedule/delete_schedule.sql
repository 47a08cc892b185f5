-- Deletes a schedule.
DELETE FROM ratchet_schedule WHERE name = ?1
