-- Of these jobs (a list of seq), those that have ended and can be deleted: they have no lingering run and no unfinished
-- group, and do not hold up the jobs after them in a sequence.
SELECT seq, id, template, state FROM ratchet_job
WHERE seq IN (SELECT value FROM json_each(?1)) AND state IN (2, 3, 5)
  AND NOT EXISTS (SELECT 1 FROM ratchet_lingering WHERE job = ratchet_job.id)
  AND (grp IS NULL OR NOT EXISTS (SELECT 1 FROM ratchet_group WHERE id = ratchet_job.grp AND finished_at IS NULL))
  AND NOT EXISTS (
    SELECT 1 FROM ratchet_sequence
    WHERE ratchet_job.linked = 1 AND ratchet_job.grp IS NULL AND key = ratchet_job.slot_key AND (
      ratchet_job.wait LIKE '%"fired":0%'
      OR EXISTS (SELECT 1 FROM ratchet_edge WHERE parent = CAST(x'00' || ratchet_job.id AS BLOB) AND resolution IS NULL)
    )
  )
