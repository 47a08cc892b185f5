-- Like list_jobs_oldest_first.sql, but only the members of a group.
SELECT * FROM ratchet_job WHERE grp = ?3 AND id > ?1 ORDER BY id LIMIT ?2
