-- Deliveries handed out, each with its alert if it is one. One that belongs to a job waits for those of the same job
-- before it, also for one that somebody holds or has locked: whoever looks sees it until it was acknowledged.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
waiting AS MATERIALIZED (
    SELECT d.ctid AS spot FROM ratchet.delivery d
    WHERE d.channel = $1 AND d.held_until <= (SELECT now FROM clock)
        AND (d.job IS NULL OR NOT EXISTS (SELECT FROM ratchet.delivery e WHERE e.job = d.job AND e.id < d.id))
    -- All of one channel: named for the index that has them in order.
    ORDER BY d.channel, d.id LIMIT $2 FOR UPDATE SKIP LOCKED
),
held AS (
    UPDATE ratchet.delivery d SET held_until = LEAST((SELECT now FROM clock) + $3, 253402207200999999)
    WHERE d.ctid = ANY (ARRAY(SELECT spot FROM waiting))
    RETURNING d.id, d.alert, d.envelope
)
SELECT h.id, h.envelope, a.job, a.at, a.suppressed, a.name, a.fingerprint, a.message
FROM held h LEFT JOIN LATERAL (SELECT * FROM ratchet.alert a WHERE a.id = h.alert OFFSET 0) a ON true
ORDER BY h.id
