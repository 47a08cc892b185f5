-- The jobs with these numbers.
SELECT job.* FROM ratchet_job AS job WHERE seq IN (SELECT value FROM json_each(?1))
