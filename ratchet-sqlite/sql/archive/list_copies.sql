-- The earlier copies of jobs (a list of seq of the file of the jobs), as seq of the archive: a move of them was interrupted.
SELECT seq FROM main.ratchet_job
WHERE id IN (SELECT id FROM live.ratchet_job WHERE seq IN (SELECT value FROM json_each(?1)))
