-- Like list_expiring.sql, but jobs with a higher id than the given one, oldest first.
SELECT job.* FROM ratchet_job AS job INDEXED BY ratchet_job_expires
WHERE job.expires <= ?6 AND job.expires IS NOT NULL AND job.state IN (0, 4)
  AND job.id > ?1 AND (?2 >> job.state) & 1 AND (?3 IS NULL OR job.queue = ?3)
  AND (?4 IS NULL OR (SELECT name FROM ratchet_template WHERE id = job.template) = ?4)
ORDER BY job.id LIMIT ?5
