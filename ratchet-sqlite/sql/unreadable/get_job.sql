-- The job with this seq.
SELECT job.* FROM ratchet_job AS job WHERE seq = ?1
