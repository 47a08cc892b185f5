-- Inserts a line of a job's attempt history.
INSERT INTO ratchet_attempt (job, run, line) VALUES (?1, ?2, ?3)
