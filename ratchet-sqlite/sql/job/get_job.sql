-- One job.
SELECT * FROM ratchet_job WHERE id = ?1
