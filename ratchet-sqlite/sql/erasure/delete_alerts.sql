-- Deletes the alerts of a job.
DELETE FROM ratchet_alert WHERE job = ?1
