-- Queues in which the end of a run makes room.
SELECT name FROM ratchet_queue WHERE limited = 1
