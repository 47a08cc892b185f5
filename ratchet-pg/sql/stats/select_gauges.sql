-- The state of all queues, or one, from one slot up to another.
SELECT g.slot, g.queue, g.at, g.depth, g.running, g.paused, g.failed, g.blocked_by, g.oldest_age
FROM ratchet.gauge g
WHERE g.tier = $1 AND g.slot >= $2 AND g.slot < $3 AND ($4::text IS NULL OR g.queue = $4)
ORDER BY g.slot, g.queue COLLATE "C"
