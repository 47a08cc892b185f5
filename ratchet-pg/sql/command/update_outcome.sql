-- No rows: the fence of an ended job goes up.
UPDATE ratchet.outcome SET version = $2 WHERE job = $1
