-- Jobs with a higher id than the given one, oldest first.
SELECT * FROM ratchet_job WHERE id > ?1 ORDER BY id LIMIT ?2
