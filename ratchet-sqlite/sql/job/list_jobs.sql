-- Jobs with a lower id than the given one, newest first, filtered by states (as bits), queue and name. A job with a
-- damaged state matches only if all states do.
SELECT job.* FROM ratchet_job AS job
WHERE job.id < ?1 AND ((?2 >> job.state) & 1 OR (?2 = 63 AND job.state NOT BETWEEN 0 AND 5)) AND (?3 IS NULL OR job.queue = ?3)
  AND (?4 IS NULL OR (SELECT name FROM ratchet_template WHERE id = job.template) = ?4)
ORDER BY job.id DESC LIMIT ?5
