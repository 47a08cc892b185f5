-- Deletes all but the newest lines of a job's log.
DELETE FROM ratchet_log
WHERE job = ?1 AND number <= (SELECT max(number) FROM ratchet_log WHERE job = ?1) - ?2
