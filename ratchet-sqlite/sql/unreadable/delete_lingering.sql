-- The runs of a job that linger.
DELETE FROM ratchet_lingering WHERE job = (SELECT id FROM ratchet_job WHERE seq = ?1)
