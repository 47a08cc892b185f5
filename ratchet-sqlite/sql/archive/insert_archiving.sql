-- Marks jobs (a list of seq of the file of the jobs) whose move has begun.
INSERT OR IGNORE INTO main.ratchet_archiving (job)
SELECT id FROM live.ratchet_job WHERE seq IN (SELECT value FROM json_each(?1))
