-- Like list_by_key.sql, but jobs with a higher id than the given one, oldest first.
SELECT job.* FROM ratchet_archived AS archived CROSS JOIN ratchet_job AS job ON job.id = archived.job
WHERE archived.business_key = CAST(json_extract(?6, '$') AS TEXT) AND archived.job > ?1
  AND ((?2 >> job.state) & 1 OR (?2 = 63 AND job.state NOT BETWEEN 0 AND 5)) AND (?3 IS NULL OR job.queue = ?3)
  AND (?4 IS NULL OR (SELECT name FROM ratchet_template WHERE id = job.template) = ?4)
ORDER BY archived.job LIMIT ?5
