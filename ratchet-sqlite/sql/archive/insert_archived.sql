-- Marks jobs (a list of seq of the file of the jobs) as archived at an instant. A job that cannot be read has no key.
INSERT OR REPLACE INTO main.ratchet_archived (job, state, at, business_key)
SELECT id, state, ?2,
    CASE WHEN scoped_key IS NOT NULL AND json_valid(own) THEN CAST(json_extract(own, '$.business_key') AS TEXT) END
FROM live.ratchet_job WHERE seq IN (SELECT value FROM json_each(?1))
