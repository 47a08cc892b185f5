-- The history of a job, oldest first, without the run that succeeded.
SELECT line FROM ratchet_attempt WHERE job = ?1 ORDER BY run
