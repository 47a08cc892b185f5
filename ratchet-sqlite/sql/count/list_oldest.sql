-- When the oldest pending job of each of these names and versions (a JSON array of pairs) was submitted. Each part reads the
-- first jobs of an index: not due, in line, set aside, waiting for other steps. It reads at most 1,000 of them, so that the
-- time does not grow with the backlog.
WITH kind AS MATERIALIZED (
    SELECT template.id, template.name, template.version, template.queue
    FROM json_each(?1) AS wanted
    CROSS JOIN ratchet_template AS template ON template.name = wanted.value ->> 0 AND template.version = wanted.value ->> 1
)
SELECT name, min(oldest) FROM (
    SELECT kind.name, (
        SELECT min(queued_at) FROM (
            SELECT queued_at FROM ratchet_job AS job WHERE job.template = kind.id AND state = 0 AND ready = 0
            ORDER BY due LIMIT 1000
        )
    ) AS oldest
    FROM kind
    UNION ALL
    SELECT kind.name, (
        SELECT min(queued_at) FROM (
            SELECT template, queued_at FROM ratchet_job AS job WHERE job.queue = kind.queue AND state = 0 AND ready = 1
            ORDER BY sort_key, due, id LIMIT 1000
        ) WHERE template = kind.id
    )
    FROM kind
    UNION ALL
    SELECT kind.name, (
        SELECT min(queued_at) FROM (
            SELECT template, queued_at FROM ratchet_job AS job WHERE job.lane = aside.lane AND state = 0 AND ready = 2
            ORDER BY sort_key, due, id LIMIT 1000
        ) WHERE template = kind.id
    )
    FROM kind
    CROSS JOIN ratchet_aside AS aside ON aside.queue = kind.queue AND aside.name = kind.name AND aside.version = kind.version
    UNION ALL
    SELECT kind.name, (
        SELECT min(queued_at) FROM (
            SELECT queued_at FROM ratchet_job AS job WHERE job.template = kind.id AND state = 0 AND ready > 2 LIMIT 1000
        )
    )
    FROM kind
)
WHERE oldest IS NOT NULL GROUP BY name
