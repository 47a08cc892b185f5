-- Makes a claimed job that cannot be read pending and takes it out of the line, because its run is over. One row if
-- there was one.
UPDATE ratchet_job
SET state = 0, ready = 4, lease = NULL, handler_started = NULL, probe = NULL,
    fence = CASE WHEN fence BETWEEN 0 AND 4611686018427387904 THEN fence + 1 ELSE fence END
WHERE seq = ?1 AND state = 1
RETURNING template, slot_key, queue
