-- One row if the job exists.
SELECT 1 FROM ratchet_job WHERE id = ?1
