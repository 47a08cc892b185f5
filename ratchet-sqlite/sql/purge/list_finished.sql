-- Jobs that have been in a terminal state since an instant, oldest first, unless a run lingers.
SELECT seq, id, template FROM ratchet_job
WHERE state = ?1 AND finished_at <= ?2 AND NOT EXISTS (SELECT 1 FROM ratchet_lingering WHERE job = ratchet_job.id)
ORDER BY finished_at, id LIMIT ?3
