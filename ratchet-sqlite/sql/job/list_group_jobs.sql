-- Like list_jobs.sql, but only the members of a group.
SELECT job.* FROM ratchet_job AS job WHERE grp = ?3 AND id < ?1 ORDER BY id DESC LIMIT ?2
