-- Jobs that reached a terminal state before an instant, oldest first, without those that have a lingering run or an
-- unfinished group, or that hold up the jobs after them in a sequence: their own turn has not come, or an edge from them
-- has not fired.
SELECT seq, id, template, fence FROM ratchet_job
WHERE state = ?1 AND finished_at <= ?2 AND NOT EXISTS (SELECT 1 FROM ratchet_lingering WHERE job = ratchet_job.id)
  AND (grp IS NULL OR NOT EXISTS (SELECT 1 FROM ratchet_group WHERE id = ratchet_job.grp AND finished_at IS NULL))
  AND NOT EXISTS (
    SELECT 1 FROM ratchet_sequence
    WHERE ratchet_job.linked = 1 AND ratchet_job.grp IS NULL AND key = ratchet_job.slot_key AND (
      ratchet_job.wait LIKE '%"fired":0%'
      OR EXISTS (SELECT 1 FROM ratchet_edge WHERE parent = CAST(x'00' || ratchet_job.id AS BLOB) AND resolution IS NULL)
    )
  )
ORDER BY finished_at, id LIMIT ?3
