-- How many runs of a queue there are: live claims, and runs that linger.
SELECT (SELECT count(*) FROM ratchet_job INDEXED BY ratchet_job_running WHERE state = 1 AND queue = ?1)
     + (SELECT count(*) FROM ratchet_lingering WHERE queue = ?1)
