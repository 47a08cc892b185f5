-- Like list_jobs.sql, but only jobs that wait or are paused and expire at the given instant or earlier.
SELECT job.* FROM ratchet_job AS job INDEXED BY ratchet_job_expires
WHERE expires <= ?3 AND expires IS NOT NULL AND state IN (0, 4) AND id < ?1
ORDER BY id DESC LIMIT ?2
