    NULL::bigint AS line, NULL::uuid[] AS jobs, NULL::bigint[] AS dues, NULL::bigint[] AS sort_keys, NULL::text[] AS names,
    NULL::integer[] AS job_versions, NULL::text[] AS services, NULL::bytea[] AS payloads,
    NULL::uuid AS job, NULL::bigint AS place, NULL::bigint AS version, NULL::bigint AS run, NULL::bigint AS due,
    NULL::integer AS attempts, NULL::integer AS crashes, NULL::integer AS deferrals, NULL::integer AS generation,
    NULL::bigint AS queued_at, NULL::text AS name, NULL::integer AS job_version, NULL::smallint AS priority,
    NULL::bytea AS payload, NULL::text AS business_key, NULL::text AS idempotency_key, NULL::text AS ckey,
    NULL::integer AS climit, NULL::text AS service, NULL::text AS tags, NULL::text AS tenant,
    NULL::text AS correlation_id, NULL::text AS extra, NULL::text AS trace
FROM clock, road
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    l.place, l.jobs, l.dues, l.sort_keys, l.names, l.job_versions, l.services, l.payloads,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL
FROM line l
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    c.job, c.place, c.version, c.run, c.due, c.attempts, c.crashes, c.deferrals, c.generation,
    j.queued_at, j.name, j.version, j.priority, j.payload, j.business_key, j.idempotency_key, j.ckey, j.climit, j.service,
    j.tags::text, j.tenant, j.correlation_id, j.extra, j.trace
FROM picked c
-- One lookup per job. The planner estimates the limit as a tenth of the table and would read all of it.
CROSS JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = c.job OFFSET 0) j
WHERE c.payload IS NULL AND (SELECT clear FROM road)
