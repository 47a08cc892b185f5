-- Like list_jobs_oldest_first.sql, but only archived jobs with a business key, which is given as JSON.
SELECT job.* FROM ratchet_archived AS archived CROSS JOIN ratchet_job AS job ON job.id = archived.job
WHERE archived.business_key = CAST(json_extract(?3, '$') AS TEXT) AND archived.job > ?1
ORDER BY archived.job LIMIT ?2
