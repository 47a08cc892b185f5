-- Updates all mutable columns of a job.
UPDATE ratchet_job
SET state = ?2, ready = ?3, sort_key = ?4, due = ?5, fence = ?6, generation = ?7, attempts = ?8, crashes = ?9,
    deferrals = ?10, lease = ?11, handler_started = ?12, finished_at = ?13, duration = ?14, paused_from = ?15,
    canceled = ?16, progress = ?17, checkpoint = ?18, output = ?19, error = ?20, envelope = ?21, warnings = ?22,
    wait = ?23, root_cause = ?24
WHERE seq = ?1
