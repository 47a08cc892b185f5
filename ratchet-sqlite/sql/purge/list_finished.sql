-- Jobs that have been in a terminal state since an instant, oldest first, unless a run lingers or their group goes on.
SELECT seq, id, template FROM ratchet_job
WHERE state = ?1 AND finished_at <= ?2 AND NOT EXISTS (SELECT 1 FROM ratchet_lingering WHERE job = ratchet_job.id)
  AND (grp IS NULL OR NOT EXISTS (SELECT 1 FROM ratchet_group WHERE id = ratchet_job.grp AND finished_at IS NULL))
ORDER BY finished_at, id LIMIT ?3
