-- The number of runs of a queue: running jobs and lingering runs.
SELECT (SELECT count(*) FROM ratchet_job INDEXED BY ratchet_job_running WHERE state = 1 AND queue = ?1)
     + (SELECT count(*) FROM ratchet_lingering WHERE queue = ?1)
