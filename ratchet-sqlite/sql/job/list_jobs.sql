-- Jobs with a lower id than the given one, newest first.
SELECT * FROM ratchet_job WHERE id < ?1 ORDER BY id DESC LIMIT ?2
