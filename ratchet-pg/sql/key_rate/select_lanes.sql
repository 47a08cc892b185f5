-- The lanes of a queue whose time has come, the earliest first.
SELECT l.cause, l.key FROM ratchet.key_lane l WHERE l.queue = $1 AND l.back <= $2 ORDER BY l.back LIMIT $3
