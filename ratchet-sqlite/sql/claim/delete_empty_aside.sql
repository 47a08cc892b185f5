-- Deletes a lane that has no more jobs set aside.
DELETE FROM ratchet_aside
WHERE lane = ?1 AND NOT EXISTS (SELECT 1 FROM ratchet_job WHERE lane = ?1 AND state = 0 AND ready = 2)
