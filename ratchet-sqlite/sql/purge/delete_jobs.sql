-- Deletes jobs (a list of seq).
DELETE FROM ratchet_job WHERE seq IN (SELECT value FROM json_each(?1))
