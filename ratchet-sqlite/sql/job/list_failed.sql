-- Failed jobs with a higher id than the given one, oldest first.
SELECT job.* FROM ratchet_job AS job WHERE state = 3 AND id > ?1 ORDER BY id LIMIT ?2
