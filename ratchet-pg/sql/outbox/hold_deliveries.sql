-- Deliveries handed out, each with its alert if it is one. One that belongs to a job waits for those of the same job before
-- it, also for one that somebody holds or has locked: whoever looks sees it until it was acknowledged.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
waiting AS MATERIALIZED (
    SELECT d.id FROM ratchet.delivery d, clock
    WHERE d.channel = $1 AND d.held_until <= clock.now
        AND (d.job IS NULL OR NOT EXISTS (SELECT FROM ratchet.delivery e WHERE e.job = d.job AND e.id < d.id))
    ORDER BY d.id LIMIT $2 FOR UPDATE OF d SKIP LOCKED
),
held AS (
    UPDATE ratchet.delivery d SET held_until = LEAST(clock.now + $3, 253402207200999999) FROM waiting w, clock WHERE d.id = w.id
    RETURNING d.id, d.alert, d.envelope
)
SELECT h.id, h.envelope, a.job, a.at, a.suppressed, a.name, a.fingerprint, a.message
FROM held h LEFT JOIN ratchet.alert a ON a.id = h.alert
ORDER BY h.id
