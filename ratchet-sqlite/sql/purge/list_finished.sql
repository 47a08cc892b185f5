-- Jobs that reached a terminal state before an instant, oldest first, without those that have a lingering run or an
-- unfinished group.
SELECT seq, id, template FROM ratchet_job
WHERE state = ?1 AND finished_at <= ?2 AND NOT EXISTS (SELECT 1 FROM ratchet_lingering WHERE job = ratchet_job.id)
  AND (grp IS NULL OR NOT EXISTS (SELECT 1 FROM ratchet_group WHERE id = ratchet_job.grp AND finished_at IS NULL))
ORDER BY finished_at, id LIMIT ?3
