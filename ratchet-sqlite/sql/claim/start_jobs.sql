-- Claims the chosen jobs (a list of seq).
UPDATE ratchet_job
SET state = 1, ready = 0, fence = fence + 1, run = run + 1, node = ?2, lease = ?3, handler_started = ?4, probe = NULL, started_at = ?5,
    duration = NULL, queue_wait = max(?5 - due, 0)
WHERE seq IN (SELECT value FROM json_each(?1))
