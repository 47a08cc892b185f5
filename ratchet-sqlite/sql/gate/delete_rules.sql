-- A queue that has no rules any more.
DELETE FROM ratchet_queue WHERE name = ?1
