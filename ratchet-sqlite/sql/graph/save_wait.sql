-- Updates the wait condition of a step whose state does not change.
UPDATE ratchet_job SET wait = ?2 WHERE seq = ?1
