-- The id of a job, by its place in the table.
SELECT id FROM ratchet_job WHERE seq = ?1
