-- Queues with a concurrency limit, in which the end of a run frees capacity.
SELECT name FROM ratchet_queue WHERE limited = 1
