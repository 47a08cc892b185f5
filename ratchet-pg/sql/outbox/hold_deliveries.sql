-- Deliveries that are handed out, with their alert if they have one. A delivery of a job waits until all earlier
-- deliveries of the same job are acknowledged, even if they are held or locked.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
waiting AS MATERIALIZED (
    SELECT d.ctid AS row_id FROM ratchet.delivery d
    WHERE d.channel = $1 AND d.held_until <= (SELECT now FROM clock)
        AND (d.job IS NULL OR NOT EXISTS (SELECT FROM ratchet.delivery e WHERE e.job = d.job AND e.id < d.id))
    -- `channel` is constant, but makes the planner use the index that has this order.
    ORDER BY d.channel, d.id LIMIT $2 FOR UPDATE SKIP LOCKED
),
held AS (
    UPDATE ratchet.delivery d SET held_until = LEAST((SELECT now FROM clock) + $3, 253402207200999999)
    WHERE d.ctid = ANY (ARRAY(SELECT row_id FROM waiting))
    RETURNING d.id, d.alert, d.envelope
)
SELECT h.id, h.envelope, a.job, a.at, a.suppressed, a.name, a.fingerprint, a.message
FROM held h LEFT JOIN LATERAL (SELECT * FROM ratchet.alert a WHERE a.id = h.alert OFFSET 0) a ON true
ORDER BY h.id
