-- Copies the logs of jobs (a list of seq of the file of the jobs).
INSERT INTO main.ratchet_log (job, number, line)
SELECT job, number, line FROM live.ratchet_log
WHERE job IN (SELECT id FROM live.ratchet_job WHERE seq IN (SELECT value FROM json_each(?1)))
