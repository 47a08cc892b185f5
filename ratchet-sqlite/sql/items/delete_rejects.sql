-- Deletes the rejects of jobs (a list of seq) that are about to be deleted.
DELETE FROM ratchet_reject WHERE job IN (SELECT id FROM ratchet_job WHERE seq IN (SELECT value FROM json_each(?1)))
