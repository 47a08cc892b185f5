-- No rows. Deletes a queue that no longer has rules.
DELETE FROM ratchet.queue WHERE name = $1
