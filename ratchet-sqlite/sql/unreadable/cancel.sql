-- Cancels a pending step that cannot be read. One row if there was one.
UPDATE ratchet_job
SET state = 5, ready = 0, finished_at = ?2, canceled = ?3, root_cause = ?4, wait = ?5, paused_from = NULL
WHERE id = ?1 AND state = 0
RETURNING seq, template
