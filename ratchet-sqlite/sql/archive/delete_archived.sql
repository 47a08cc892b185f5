-- Deletes the marks of archived jobs (a list of seq).
DELETE FROM main.ratchet_archived WHERE job IN (
    SELECT id FROM main.ratchet_job WHERE seq IN (SELECT value FROM json_each(?1))
)
