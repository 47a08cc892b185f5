-- Appends a line to a job's log.
INSERT INTO ratchet_log (job, number, line)
VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM ratchet_log WHERE job = ?1), ?2)
