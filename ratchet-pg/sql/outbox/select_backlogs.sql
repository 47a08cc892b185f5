-- One row per channel that has deliveries: their number, at most `$1`, and the oldest one, with its alert if it has one.
-- A channel is given as a range. With `=`, the planner would read deliveries by their id, and for a channel without any, all
-- of them.
SELECT c.channel, n.waiting, d.envelope, a.job, a.at, a.suppressed, a.name, a.fingerprint, a.message
FROM unnest('{0,1,2}'::smallint[]) AS c(channel)
CROSS JOIN LATERAL (
    SELECT d.alert, d.envelope FROM ratchet.delivery d WHERE d.channel BETWEEN c.channel AND c.channel
    ORDER BY d.channel, d.id LIMIT 1
) d
CROSS JOIN LATERAL (
    SELECT count(*) AS waiting
    FROM (
        SELECT FROM ratchet.delivery d WHERE d.channel BETWEEN c.channel AND c.channel
        ORDER BY d.channel, d.id LIMIT $1
    ) counted
) n
LEFT JOIN LATERAL (SELECT * FROM ratchet.alert a WHERE a.id = d.alert OFFSET 0) a ON true
ORDER BY c.channel
