-- The number of probes of one opening of a breaker: running jobs and lingering runs.
SELECT (SELECT count(*) FROM ratchet_job WHERE state = 1 AND probe = ?1)
     + (SELECT count(*) FROM ratchet_lingering WHERE probe = ?1)
