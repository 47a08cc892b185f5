-- Unfinished checkpoints of a pipeline that are not held, in commit order.
SELECT number, key, job, checkpoint, at, repeats, tenant, correlation_id FROM ratchet_hand_off
WHERE pipeline = ?1 AND finished = 0 AND (held_until IS NULL OR held_until <= ?2) ORDER BY number LIMIT ?3
