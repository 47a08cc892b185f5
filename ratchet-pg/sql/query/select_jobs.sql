-- Complete jobs, newest first.
WITH held AS MATERIALIZED (
    SELECT l.node, l.at AS started_at, m.job, m.due, COALESCE(m.version, 1) AS version, COALESCE(m.run, 1) AS run,
        COALESCE(m.attempts, 0) AS attempts, COALESCE(m.crashes, 0) AS crashes, COALESCE(m.deferrals, 0) AS deferrals,
        COALESCE(m.generation, 1) AS generation
    FROM ratchet.lease l CROSS JOIN LATERAL unnest(l.jobs, l.versions, l.dues, l.runs, l.attempts, l.crashes, l.deferrals, l.generations)
        AS m(job, version, due, run, attempts, crashes, deferrals, generation)
    WHERE l.remaining > 0 AND m.version IS DISTINCT FROM 0 AND m.job = ANY($1::uuid[])
)
SELECT j.id AS job,
    CASE WHEN p.job IS NOT NULL THEN 4 WHEN o.job IS NOT NULL THEN o.state WHEN w.job IS NOT NULL THEN 0 ELSE 1
    END::smallint AS state,
    p.failed,
    COALESCE(CASE WHEN NOT p.failed THEN p.due END, o.due, w.due, h.due) AS due,
    COALESCE(p.version, o.version, w.version, h.version) AS version,
    COALESCE(p.run, o.run, w.run, h.run) AS run,
    COALESCE(p.attempts, o.attempts, w.attempts, h.attempts) AS attempts,
    COALESCE(p.crashes, o.crashes, w.crashes, h.crashes) AS crashes,
    COALESCE(p.deferrals, o.deferrals, w.deferrals, h.deferrals) AS deferrals,
    COALESCE(p.generation, o.generation, w.generation, h.generation) AS generation,
    o.at AS finished_at, o.cause, o.output, o.envelope,
    -- The latest run: the one that ended the job, the current one, or the last one in the history.
    COALESCE(o.started_at, h.started_at, a.started_at) AS started_at,
    CASE WHEN o.started_at IS NOT NULL THEN o.due WHEN h.job IS NOT NULL THEN h.due ELSE a.due END AS run_due,
    CASE WHEN o.started_at IS NOT NULL THEN o.duration WHEN h.job IS NOT NULL THEN NULL ELSE a.duration END AS duration,
    COALESCE(o.node, h.node, a.node) AS node,
    e.error,
    j.queued_at, j.queue, j.name, j.version AS job_version, j.priority, j.payload, j.business_key, j.idempotency_key,
    j.ckey, j.climit, j.service, j.tags::text AS tags, j.tenant, j.correlation_id, j.extra, j.trace,
    m.wait, m.root,
    n.percent, n.message, n.checkpoint, n.warnings
-- One lookup per job, so that each reads only one partition.
FROM unnest($1::uuid[]) AS x(id)
CROSS JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = x.id OFFSET 0) j
LEFT JOIN LATERAL (SELECT * FROM ratchet.paused p WHERE p.job = j.id OFFSET 0) p ON true
LEFT JOIN LATERAL (SELECT * FROM ratchet.outcome o WHERE o.job = j.id OFFSET 0) o ON true
LEFT JOIN LATERAL (
    SELECT r.job, r.due, r.version, r.run, r.attempts, r.crashes, r.deferrals, r.generation
    FROM ratchet.ready r WHERE r.job = j.id AND r.version > 0
    UNION ALL
    -- A job that was never moved is at the position of its submit.
    SELECT r.job, r.due, r.version, r.run, r.attempts, r.crashes, r.deferrals, r.generation
    FROM ratchet.ready r
    WHERE r.queue = j.queue AND r.sort_key = ratchet.sort_key(j.due, j.head) AND r.due = j.due AND r.job = j.id AND r.version = 0
    UNION ALL
    SELECT s.job, s.due, s.version, s.run, s.attempts, s.crashes, s.deferrals, s.generation
    FROM ratchet.scheduled s WHERE s.job = j.id
    UNION ALL
    SELECT b.job, b.due, b.version, b.run, b.attempts, b.crashes, b.deferrals, b.generation
    FROM ratchet.blocked b WHERE b.job = j.id
) w ON true
LEFT JOIN held h ON h.job = j.id AND p.job IS NULL AND o.job IS NULL AND w.job IS NULL
LEFT JOIN LATERAL (
    SELECT a.* FROM ratchet.attempt a WHERE a.job = j.id ORDER BY a.run DESC LIMIT 1
) a ON true
LEFT JOIN LATERAL (
    SELECT e.error FROM ratchet.attempt e
    WHERE e.job = j.id AND e.error IS NOT NULL
        AND e.generation = COALESCE(p.generation, o.generation, w.generation, h.generation)
    ORDER BY e.run DESC LIMIT 1
) e ON true
LEFT JOIN LATERAL (SELECT m.wait, m.root FROM ratchet.member m WHERE m.job = j.id AND j.extra IS NOT NULL OFFSET 0) m ON true
LEFT JOIN LATERAL (SELECT * FROM ratchet.note n WHERE n.job = j.id OFFSET 0) n ON true
ORDER BY j.id DESC
