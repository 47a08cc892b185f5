-- The state of queues in a slot.
SELECT g.slot, g.queue, g.at, g.depth, g.running, g.paused, g.failed, g.blocked_by, g.oldest_age
FROM ratchet.gauge g WHERE g.tier = $1 AND g.slot = $2 AND g.queue = ANY ($3)
