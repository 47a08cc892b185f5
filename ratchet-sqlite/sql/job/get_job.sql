-- The job with this id.
SELECT job.* FROM ratchet_job AS job WHERE id = ?1
