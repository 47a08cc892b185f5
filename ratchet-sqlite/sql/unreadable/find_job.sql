-- The id of a job, by its seq.
SELECT id FROM ratchet_job WHERE seq = ?1
