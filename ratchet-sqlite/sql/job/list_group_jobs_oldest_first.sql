-- Like list_jobs_oldest_first.sql, but only the members of a group.
SELECT job.* FROM ratchet_job AS job WHERE grp = ?3 AND id > ?1 ORDER BY id LIMIT ?2
