-- No rows. Removes operations that ended before $1.
DELETE FROM ratchet.operation WHERE ended_at < $1
