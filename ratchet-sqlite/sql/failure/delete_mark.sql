-- Deletes what an operator says about a group.
DELETE FROM ratchet_failure_mark WHERE name = ?1 AND fingerprint = ?2
