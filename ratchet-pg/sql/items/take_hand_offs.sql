-- Unfinished checkpoints of a pipeline, in commit order. Holds them for the caller.
WITH free AS MATERIALIZED (
    SELECT h.ctid AS row_id FROM ratchet.hand_off h
    WHERE h.pipeline = $1 AND NOT h.finished AND h.held_until <= $2
    ORDER BY h.number LIMIT $4 FOR UPDATE SKIP LOCKED
),
held AS (
    UPDATE ratchet.hand_off h SET held_until = $3 WHERE h.ctid = ANY (ARRAY(SELECT row_id FROM free))
    RETURNING h.number, h.key, h.job, h.at, h.repeats, h.checkpoint, h.tenant, h.correlation_id
)
SELECT key, job, at, repeats, checkpoint, tenant, correlation_id FROM held ORDER BY number
