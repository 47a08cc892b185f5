-- Deletes marks from before an instant.
DELETE FROM ratchet_failure_mark WHERE at < ?1
