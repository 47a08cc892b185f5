-- Deletes the messages about the outcomes of a job.
DELETE FROM ratchet_delivery WHERE job = ?1
