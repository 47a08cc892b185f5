-- The job with this seq.
SELECT * FROM ratchet_job WHERE seq = ?1
