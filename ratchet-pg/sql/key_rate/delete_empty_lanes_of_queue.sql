-- No rows. Deletes the lanes of a queue that have no jobs.
DELETE FROM ratchet.key_lane l
WHERE l.queue = $1 AND NOT EXISTS (SELECT FROM ratchet.blocked b WHERE b.cause = l.cause)
