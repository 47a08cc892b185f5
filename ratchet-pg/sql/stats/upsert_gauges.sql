-- No rows. Writes the state of queues in a slot, or replaces it.
INSERT INTO ratchet.gauge (tier, slot, queue, at, depth, running, paused, failed, blocked_by, oldest_age)
SELECT $1, $2, u.* FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::smallint[], $10::bigint[]) u
ON CONFLICT (tier, slot, queue) DO UPDATE SET
    at = EXCLUDED.at, depth = EXCLUDED.depth, running = EXCLUDED.running, paused = EXCLUDED.paused,
    failed = EXCLUDED.failed, blocked_by = EXCLUDED.blocked_by, oldest_age = EXCLUDED.oldest_age
