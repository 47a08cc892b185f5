-- Deletes the lingering runs of a job.
DELETE FROM ratchet_lingering WHERE job = (SELECT id FROM ratchet_job WHERE seq = ?1)
