-- No rows. Raises the version of an ended job.
UPDATE ratchet.outcome SET version = $2 WHERE job = $1
