-- The job with this id.
SELECT * FROM ratchet_job WHERE id = ?1
