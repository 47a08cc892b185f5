-- The seq of a job, if this run of it is current and the job is recorded as unreadable.
SELECT seq FROM ratchet_job AS job
WHERE id = ?1 AND state = 1 AND lease = ?2 AND fence = ?3
  AND EXISTS (SELECT 1 FROM ratchet_unreadable WHERE seq = job.seq)
