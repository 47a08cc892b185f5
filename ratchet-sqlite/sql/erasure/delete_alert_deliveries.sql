-- Deletes the messages about the alerts of a job.
DELETE FROM ratchet_delivery WHERE alert IN (SELECT number FROM ratchet_alert WHERE job = ?1)
