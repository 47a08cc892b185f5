-- Like list_jobs_oldest_first.sql, but only the members of a group.
SELECT job.* FROM ratchet_job AS job
WHERE job.grp = ?6 AND job.id > ?1 AND ((?2 >> job.state) & 1 OR (?2 = 63 AND job.state NOT BETWEEN 0 AND 5)) AND (?3 IS NULL OR job.queue = ?3)
  AND (?4 IS NULL OR (SELECT name FROM ratchet_template WHERE id = job.template) = ?4)
ORDER BY job.id LIMIT ?5
