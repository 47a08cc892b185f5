-- Marks jobs (a list of seq of the file of the jobs) as archived at an instant.
INSERT OR REPLACE INTO main.ratchet_archived (job, state, at)
SELECT id, state, ?2 FROM live.ratchet_job WHERE seq IN (SELECT value FROM json_each(?1))
