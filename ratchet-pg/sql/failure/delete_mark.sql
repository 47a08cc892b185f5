-- No rows. Deletes what an operator says about a group.
DELETE FROM ratchet.failure_mark WHERE name = $1 AND fingerprint = $2
