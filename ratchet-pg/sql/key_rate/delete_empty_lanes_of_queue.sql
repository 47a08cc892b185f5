-- No rows. Deletes the lanes of a queue that have no jobs.
DELETE FROM ratchet.key_lane l
WHERE l.queue = $1 AND (SELECT true FROM ratchet.blocked b WHERE b.cause = l.cause ORDER BY b.sort_key, b.due, b.job LIMIT 1) IS NULL
