-- The attempt history of a job, oldest first. A plain success is not stored there.
SELECT line FROM ratchet_attempt WHERE job = ?1 ORDER BY run
