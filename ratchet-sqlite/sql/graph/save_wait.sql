-- What a step waits for, of a job that does not move.
UPDATE ratchet_job SET wait = ?2 WHERE seq = ?1
