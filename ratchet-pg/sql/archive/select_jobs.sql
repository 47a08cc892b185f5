-- Archived jobs, newest first.
SELECT j.id AS job, o.state, NULL::boolean AS failed, o.due, o.version, o.run, o.attempts, o.crashes, o.deferrals,
    o.generation, o.at AS finished_at, o.cause, o.output, o.envelope,
    COALESCE(o.started_at, a.started_at) AS started_at,
    CASE WHEN o.started_at IS NOT NULL THEN o.due ELSE a.due END AS run_due,
    CASE WHEN o.started_at IS NOT NULL THEN o.duration ELSE a.duration END AS duration,
    COALESCE(o.node, a.node) AS node,
    e.error,
    j.queued_at, j.queue, j.name, j.version AS job_version, j.priority, j.payload, j.business_key, j.idempotency_key,
    j.ckey, j.climit, j.service, j.tags::text AS tags, j.tenant, j.correlation_id, j.extra, j.trace,
    NULL::text AS wait, NULL::text AS root,
    n.percent, n.message, n.checkpoint, n.warnings,
    COALESCE(m.at, (
        SELECT p.at FROM ratchet_archive.part p WHERE p.starts <= ratchet.instant_of(j.id) ORDER BY p.starts DESC LIMIT 1
    )) AS archived_at
-- One lookup per job, so that each reads only one partition.
FROM unnest($1::uuid[]) AS x(id)
CROSS JOIN LATERAL (SELECT * FROM ratchet_archive.job j WHERE j.id = x.id OFFSET 0) j
CROSS JOIN LATERAL (SELECT * FROM ratchet_archive.outcome o WHERE o.job = j.id OFFSET 0) o
LEFT JOIN LATERAL (SELECT * FROM ratchet_archive.moved m WHERE m.job = j.id OFFSET 0) m ON true
LEFT JOIN LATERAL (
    SELECT a.* FROM ratchet_archive.attempt a WHERE a.job = j.id ORDER BY a.run DESC LIMIT 1
) a ON true
LEFT JOIN LATERAL (
    SELECT e.error FROM ratchet_archive.attempt e
    WHERE e.job = j.id AND e.error IS NOT NULL AND e.generation = o.generation
    ORDER BY e.run DESC LIMIT 1
) e ON true
LEFT JOIN LATERAL (SELECT * FROM ratchet_archive.note n WHERE n.job = j.id OFFSET 0) n ON true
ORDER BY j.id DESC
