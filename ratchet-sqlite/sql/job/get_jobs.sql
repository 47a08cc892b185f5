-- The jobs with these numbers.
SELECT * FROM ratchet_job WHERE seq IN (SELECT value FROM json_each(?1))
