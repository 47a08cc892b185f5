-- Deletes the attempt history of jobs (a list of seq).
DELETE FROM ratchet_attempt WHERE job IN (SELECT id FROM ratchet_job WHERE seq IN (SELECT value FROM json_each(?1)))
