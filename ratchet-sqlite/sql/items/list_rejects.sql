-- Rejects that match the filter, after the given one, by job and index.
SELECT job, number, body FROM ratchet_reject
WHERE (job, number) > (?1, ?2) AND (?3 IS NULL OR job = ?3) AND (?4 IS NULL OR job_name = ?4)
  AND (?5 IS NULL OR error_type = ?5) AND (?6 IS NULL OR fingerprint = ?6) AND (?7 IS NULL OR at >= ?7)
  AND (?8 IS NULL OR at < ?8)
ORDER BY job, number LIMIT ?9
