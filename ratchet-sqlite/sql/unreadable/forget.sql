-- Deletes the records of jobs (a list of seq) that can be read again or are about to be deleted.
DELETE FROM ratchet_unreadable WHERE seq IN (SELECT value FROM json_each(?1))
