-- What jobs that are about to be deleted (a list of seq) have set aside.
DELETE FROM ratchet_reject WHERE job IN (SELECT id FROM ratchet_job WHERE seq IN (SELECT value FROM json_each(?1)))
