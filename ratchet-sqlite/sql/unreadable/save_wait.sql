-- Updates the wait condition of a step that cannot be read.
UPDATE ratchet_job SET wait = ?2 WHERE id = ?1 AND state IN (0, 4)
