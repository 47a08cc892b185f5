-- The rules of a queue.
SELECT rules FROM ratchet_queue WHERE name = ?1
