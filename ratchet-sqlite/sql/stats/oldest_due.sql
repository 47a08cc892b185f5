-- When the oldest due job of each queue became due: in line, set aside, or not moved to the line yet.
--
-- The line is in the order of the sort key. Jobs of one priority are in the order of their due times, so the first of each
-- priority that does not age is found directly: its jobs are a century apart from those of the next. Other priorities
-- differ by a few intervals of aging, and are covered by reading a thousand jobs. 3153600000000000 is a century.
WITH level (n) AS (VALUES (0), (1), (2), (3), (4)),
waiting AS MATERIALIZED (
    SELECT kind.id, kind.queue FROM ratchet_count AS count JOIN ratchet_template AS kind ON kind.id = count.template
    WHERE count.state = 0 AND count.jobs > 0
)
SELECT queue, min(due) FROM (
    SELECT line.queue, (
        SELECT min(due) FROM (
            SELECT due FROM ratchet_job AS job
            WHERE job.queue = line.queue AND state = 0 AND ready = 1
                AND sort_key >= ?1 - 3153600000000000 * (2 * level.n + 1) / 2
                AND sort_key < ?1 - 3153600000000000 * (2 * level.n - 1) / 2
            ORDER BY sort_key, due, id LIMIT 1000
        )
    ) AS due
    FROM (SELECT DISTINCT queue FROM waiting) AS line CROSS JOIN level
    UNION ALL
    SELECT aside.queue, (
        SELECT min(due) FROM (
            SELECT due FROM ratchet_job AS job WHERE job.lane = aside.lane AND state = 0 AND ready = 2
            ORDER BY sort_key, due, id LIMIT 100
        )
    )
    FROM (SELECT lane, queue FROM ratchet_aside LIMIT 1000) AS aside
    UNION ALL
    SELECT waiting.queue,
        (SELECT min(due) FROM ratchet_job AS job WHERE job.template = waiting.id AND state = 0 AND ready = 0)
    FROM waiting
)
WHERE due <= ?1 GROUP BY queue
