-- Copies the history of jobs (a list of seq of the file of the jobs).
INSERT INTO main.ratchet_attempt (job, run, line)
SELECT job, run, line FROM live.ratchet_attempt
WHERE job IN (SELECT id FROM live.ratchet_job WHERE seq IN (SELECT value FROM json_each(?1)))
