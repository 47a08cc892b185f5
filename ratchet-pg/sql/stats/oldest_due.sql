-- When the oldest due job of each queue became due: in line, set aside by cause, or not moved to the line yet.
--
-- The line is in the order of the sort key. Jobs of one priority are in the order of their due times, so the first of each
-- priority that does not age is found directly: its jobs are a century apart from those of the next. Other priorities
-- differ by a few intervals of aging, and are covered by reading a thousand jobs. 3153600000000000 is a century.
WITH RECURSIVE clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
lines AS (
    (SELECT r.queue FROM ratchet.ready r WHERE r.queue >= '' ORDER BY r.queue LIMIT 1)
    UNION ALL
    SELECT (SELECT r.queue FROM ratchet.ready r WHERE r.queue > l.queue ORDER BY r.queue LIMIT 1)
    FROM lines l WHERE l.queue IS NOT NULL
),
futures AS (
    (SELECT s.queue FROM ratchet.scheduled s WHERE s.queue >= '' ORDER BY s.queue LIMIT 1)
    UNION ALL
    SELECT (SELECT s.queue FROM ratchet.scheduled s WHERE s.queue > f.queue ORDER BY s.queue LIMIT 1)
    FROM futures f WHERE f.queue IS NOT NULL
),
causes AS (
    (SELECT b.cause, 1 AS n FROM ratchet.blocked b WHERE b.cause > '' ORDER BY b.cause LIMIT 1)
    UNION ALL
    SELECT (
        SELECT b.cause FROM ratchet.blocked b
        WHERE b.cause > CASE WHEN c.cause LIKE 'rate:%' THEN 'service' ELSE c.cause END ORDER BY b.cause LIMIT 1
    ), c.n + 1
    FROM causes c WHERE c.cause IS NOT NULL AND c.n < 1000
),
-- There can be many causes `rate:…`, so they are read from their own table.
held AS (
    SELECT c.cause FROM causes c WHERE c.cause LIKE 'name:%' OR c.cause LIKE 'key:%' OR c.cause LIKE 'service:%'
    UNION ALL
    (SELECT l.cause FROM ratchet.key_lane l ORDER BY l.cause LIMIT 1000)
)
SELECT x.queue, min(x.due) AS due
FROM clock, (
    SELECT l.queue, (
        SELECT min(h.due) FROM (
            SELECT r.due FROM ratchet.ready r
            WHERE r.queue = l.queue
                AND r.sort_key >= c.now - 3153600000000000 * (2 * level + 1) / 2
                AND r.sort_key < c.now - 3153600000000000 * (2 * level - 1) / 2
            ORDER BY r.sort_key, r.due, r.job LIMIT 1000
        ) h
    ) AS due
    FROM lines l CROSS JOIN generate_series(0, 4) level CROSS JOIN clock c WHERE l.queue IS NOT NULL
    UNION ALL
    SELECT f.queue, (
        SELECT s.due FROM ratchet.scheduled s WHERE s.queue = f.queue ORDER BY s.due, s.job LIMIT 1
    )
    FROM futures f WHERE f.queue IS NOT NULL
    UNION ALL
    SELECT h.queue, h.due
    FROM held c CROSS JOIN LATERAL (
        SELECT b.queue, b.due FROM ratchet.blocked b
        WHERE b.cause = c.cause ORDER BY b.sort_key, b.due, b.job LIMIT 100
    ) h
) x
WHERE x.due <= clock.now
GROUP BY x.queue
