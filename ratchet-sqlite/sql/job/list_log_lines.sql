-- The log of a job, oldest first.
SELECT line FROM ratchet_log WHERE job = ?1 ORDER BY number
