-- Rejects that match the filter, counted by job name, error type, fingerprint and interval (?7 microseconds each). Times
-- before 1970 are rounded down too.
SELECT job_name, error_type, fingerprint, (at - ((at % ?7) + ?7) % ?7) / ?7 AS slot, count(*) FROM ratchet_reject
WHERE (?1 IS NULL OR job = ?1) AND (?2 IS NULL OR job_name = ?2) AND (?3 IS NULL OR error_type = ?3)
  AND (?4 IS NULL OR fingerprint = ?4) AND (?5 IS NULL OR at >= ?5) AND (?6 IS NULL OR at < ?6)
GROUP BY job_name, error_type, fingerprint, slot ORDER BY job_name, error_type, fingerprint, slot
