-- Deletes a queue that no longer has rules.
DELETE FROM ratchet_queue WHERE name = ?1
