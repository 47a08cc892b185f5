-- The oldest pending job of each of these names and versions (a JSON array of pairs). Each part reads the pending jobs of
-- one kind through its index: not due, in line, set aside, waiting for other steps.
SELECT name, min(queued_at) FROM (
    SELECT kind.name, job.queued_at
    FROM json_each(?1) AS wanted
    CROSS JOIN ratchet_template AS kind ON kind.name = wanted.value ->> 0 AND kind.version = wanted.value ->> 1
    CROSS JOIN ratchet_job AS job ON job.template = kind.id
    WHERE job.state = 0 AND job.ready = 0
    UNION ALL
    SELECT kind.name, job.queued_at
    FROM json_each(?1) AS wanted
    CROSS JOIN ratchet_template AS kind ON kind.name = wanted.value ->> 0 AND kind.version = wanted.value ->> 1
    CROSS JOIN ratchet_job AS job ON job.queue = kind.queue AND job.template = kind.id
    WHERE job.state = 0 AND job.ready = 1
    UNION ALL
    SELECT kind.name, job.queued_at
    FROM json_each(?1) AS wanted
    CROSS JOIN ratchet_template AS kind ON kind.name = wanted.value ->> 0 AND kind.version = wanted.value ->> 1
    CROSS JOIN ratchet_aside AS aside ON aside.queue = kind.queue AND aside.name = kind.name AND aside.version = kind.version
    CROSS JOIN ratchet_job AS job ON job.lane = aside.lane AND job.template = kind.id
    WHERE job.state = 0 AND job.ready = 2
    UNION ALL
    SELECT kind.name, job.queued_at
    FROM json_each(?1) AS wanted
    CROSS JOIN ratchet_template AS kind ON kind.name = wanted.value ->> 0 AND kind.version = wanted.value ->> 1
    CROSS JOIN ratchet_job AS job ON job.template = kind.id
    WHERE job.state = 0 AND job.ready > 2
)
GROUP BY name
