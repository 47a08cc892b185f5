-- The number of runs that hold a concurrency key: running jobs and lingering runs.
SELECT (SELECT count(*) FROM ratchet_job WHERE state = 1 AND slot_key = ?1)
     + (SELECT count(*) FROM ratchet_lingering WHERE slot_key = ?1)
