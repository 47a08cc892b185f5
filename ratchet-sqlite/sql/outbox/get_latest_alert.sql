-- The latest alert of a job name and fingerprint.
SELECT number, at FROM ratchet_alert WHERE name = ?1 AND fingerprint = ?2 ORDER BY number DESC LIMIT 1
