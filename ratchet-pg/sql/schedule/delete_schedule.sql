-- No rows. Deletes a schedule.
DELETE FROM ratchet.schedule WHERE name = $1
