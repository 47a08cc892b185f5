-- Takes a pending job that cannot be read out of the line.
UPDATE ratchet_job SET ready = 4 WHERE seq = ?1 AND state = 0
