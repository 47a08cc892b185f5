-- The number of jobs by queue and state. Live jobs are counted, ended jobs are taken from the tally.
SELECT x.queue, x.state::smallint AS state, sum(x.n)::bigint AS n
FROM (
    SELECT queue, 0 AS state, count(*) AS n FROM ratchet.ready GROUP BY queue
    UNION ALL SELECT queue, 0, count(*) FROM ratchet.scheduled GROUP BY queue
    UNION ALL SELECT queue, 0, count(*) FROM ratchet.blocked GROUP BY queue
    UNION ALL SELECT queue, 1, sum(remaining) FROM ratchet.lease GROUP BY queue
    UNION ALL SELECT queue, 4, count(*) FROM ratchet.paused GROUP BY queue
    UNION ALL SELECT queue, state, sum(change) FROM ratchet.tally GROUP BY queue, state
) x
GROUP BY x.queue, x.state HAVING sum(x.n) > 0
