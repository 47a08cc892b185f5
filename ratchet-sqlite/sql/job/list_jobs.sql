-- Jobs with a lower id than the given one, newest first.
SELECT job.* FROM ratchet_job AS job WHERE id < ?1 ORDER BY id DESC LIMIT ?2
