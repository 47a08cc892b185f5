-- Deletes the sequences whose last jobs are deleted (a list of seq).
DELETE FROM ratchet_sequence
WHERE (key, last) IN (SELECT slot_key, id FROM ratchet_job WHERE seq IN (SELECT value FROM json_each(?1)))
