-- Views for people: states, times and JSON in a readable form. The library does not use them. Each of them joins or groups, so
-- that nothing can be changed through it.

-- A time in microseconds; null if it is not one that the library writes.
CREATE FUNCTION ratchet.readable_time(micros bigint) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN micros BETWEEN -62135596800000000 AND 253402300799999999
            THEN '1970-01-01T00:00:00Z'::timestamptz + micros * interval '1 microsecond'
    END
$$;

-- JSON as a value; null if it is not JSON. PostgreSQL has no text that contains a NUL.
CREATE FUNCTION ratchet.readable_json(stored text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
    RETURN replace(stored, '\u0000', '\ufffd')::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded OR statement_too_complex THEN
    RETURN NULL;
END
$body$;

CREATE FUNCTION ratchet.readable_json(stored bytea) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
    RETURN replace(convert_from(stored, 'UTF8'), '\u0000', '\ufffd')::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded OR statement_too_complex THEN
    RETURN NULL;
END
$body$;

-- All jobs. Arguments that are secret or unknown to the catalog are masked.
CREATE VIEW ratchet.v_jobs AS
SELECT j.id, j.name, j.queue,
    CASE
        WHEN p.job IS NOT NULL THEN 'PAUSED'
        WHEN o.state = 2 THEN 'SUCCEEDED'
        WHEN o.state = 3 THEN 'FAILED'
        WHEN o.state = 5 THEN 'CANCELED'
        WHEN w.job IS NOT NULL THEN 'PENDING'
        ELSE 'RUNNING'
    END AS state,
    CASE j.priority WHEN 0 THEN 'lowest' WHEN 1 THEN 'low' WHEN 2 THEN 'normal' WHEN 3 THEN 'high' WHEN 4 THEN 'critical'
    END AS priority,
    ratchet.readable_time(j.queued_at) AS queued_at,
    ratchet.readable_time(COALESCE(CASE WHEN NOT p.failed THEN p.due END, o.due, w.due, h.due)) AS due,
    ratchet.readable_time(COALESCE(o.started_at, h.started_at,
        (SELECT a.started_at FROM ratchet.attempt a WHERE a.job = j.id ORDER BY a.run DESC LIMIT 1))) AS started_at,
    ratchet.readable_time(o.at) AS finished_at,
    COALESCE(p.attempts, o.attempts, w.attempts, h.attempts) AS attempts,
    COALESCE(p.crashes, o.crashes, w.crashes, h.crashes) AS crashes,
    COALESCE(p.deferrals, o.deferrals, w.deferrals, h.deferrals) AS deferrals,
    COALESCE(p.generation, o.generation, w.generation, h.generation) AS generation,
    COALESCE(p.run, o.run, w.run, h.run) AS run,
    COALESCE(p.version, o.version, w.version, h.version) AS version,
    COALESCE(o.node, h.node,
        (SELECT a.node FROM ratchet.attempt a WHERE a.job = j.id ORDER BY a.run DESC LIMIT 1)) AS node,
    -- Why a claim has set it aside: `name:…`, `key:…`, `service:…`, `parent` or `unreadable`.
    w.cause AS blocked_by,
    o.reason,
    f.failure ->> 'error_type' AS error_type,
    f.failure ->> 'message' AS error,
    f.failure ->> 'fingerprint' AS fingerprint,
    j.tenant, j.tags, j.business_key, j.idempotency_key, j.ckey AS concurrency_key, j.service, j.correlation_id,
    (
        SELECT CASE
            WHEN jsonb_typeof(a.given) = 'object' THEN (
                SELECT COALESCE(jsonb_object_agg(field.key, CASE WHEN c.plain ? field.key AND NOT c.secret ? field.key
                    THEN field.value ELSE '"***"' END), '{}')
                FROM jsonb_each(a.given) field
            )
            ELSE '"***"'
        END
        FROM (SELECT ratchet.readable_json(j.payload) AS given) a
        CROSS JOIN (
            SELECT COALESCE(jsonb_agg(arg ->> 'name') FILTER (WHERE NOT (arg -> 'secret')::boolean), '[]') AS plain,
                COALESCE(jsonb_agg(arg ->> 'name') FILTER (WHERE (arg -> 'secret')::boolean), '[]') AS secret
            FROM ratchet.catalog k
            CROSS JOIN LATERAL (SELECT ratchet.readable_json(k.entry) AS entry) e
            CROSS JOIN LATERAL jsonb_array_elements(e.entry -> 'args') arg
            WHERE k.name = j.name OR e.entry -> 'aliases' ? j.name
        ) c
    ) AS arguments,
    ratchet.readable_json(o.output) AS output,
    n.percent AS progress, n.message AS progress_message
FROM ratchet.job j
LEFT JOIN ratchet.outcome o ON o.job = j.id
LEFT JOIN ratchet.paused p ON p.job = j.id
LEFT JOIN (
    SELECT job, due, version, run, attempts, crashes, deferrals, generation, NULL AS cause FROM ratchet.ready
    UNION ALL
    SELECT job, due, version, run, attempts, crashes, deferrals, generation, NULL FROM ratchet.scheduled
    UNION ALL
    SELECT job, due, version, run, attempts, crashes, deferrals, generation, cause FROM ratchet.blocked
) w ON w.job = j.id
LEFT JOIN (
    SELECT l.node, l.at AS started_at, m.job, m.due, COALESCE(m.version, 1) AS version, COALESCE(m.run, 1) AS run,
        COALESCE(m.attempts, 0) AS attempts, COALESCE(m.crashes, 0) AS crashes, COALESCE(m.deferrals, 0) AS deferrals,
        COALESCE(m.generation, 1) AS generation
    FROM ratchet.lease l CROSS JOIN LATERAL unnest(l.jobs, l.versions, l.dues, l.runs, l.attempts, l.crashes, l.deferrals, l.generations)
        AS m(job, version, due, run, attempts, crashes, deferrals, generation)
    WHERE l.remaining > 0 AND m.version IS DISTINCT FROM 0
) h ON h.job = j.id AND p.job IS NULL AND o.job IS NULL AND w.job IS NULL
LEFT JOIN ratchet.note n ON n.job = j.id
CROSS JOIN LATERAL (
    SELECT COALESCE(ratchet.readable_json(o.envelope) -> 'failure', ratchet.readable_json((
        SELECT e.error FROM ratchet.attempt e
        WHERE e.job = j.id AND e.error IS NOT NULL
            AND e.generation = COALESCE(p.generation, o.generation, w.generation, h.generation)
        ORDER BY e.run DESC LIMIT 1
    ))) AS failure
) f;

-- Failed jobs by name and fingerprint, as `ratchet failures list` groups them.
CREATE VIEW ratchet.v_failures AS
SELECT j.name, o.fingerprint, count(*) AS jobs,
    min(e.at) AS first, max(e.at) AS last,
    (array_agg(o.reason ORDER BY e.at DESC, o.job))[1] AS reason,
    (array_agg(e.failure ->> 'error_type' ORDER BY e.at DESC, o.job))[1] AS error_type,
    (array_agg(e.failure ->> 'message' ORDER BY e.at DESC, o.job))[1] AS error,
    (array_agg(o.job ORDER BY e.at DESC, o.job))[1] AS latest
FROM ratchet.outcome o
JOIN ratchet.job j ON j.id = o.job
CROSS JOIN LATERAL (
    SELECT (body ->> 'at')::timestamptz AS at, body -> 'failure' AS failure FROM ratchet.readable_json(o.envelope) body
) e
WHERE o.state = 3 AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
GROUP BY j.name, o.fingerprint;

-- Queues that have jobs or rules. The numbers are those of `ratchet queues list`.
CREATE VIEW ratchet.v_queues AS
SELECT name,
    COALESCE((rules ->> 'paused')::boolean, false) AS paused,
    (rules #>> '{limits,concurrency}')::bigint AS concurrency,
    (rules #>> '{limits,rate,jobs}')::bigint AS rate,
    (rules #>> '{limits,rate,per,secs}')::bigint * interval '1 second'
        + (rules #>> '{limits,rate,per,nanos}')::bigint / 1000 * interval '1 microsecond' AS rate_per,
    (COALESCE(ready, 0) + COALESCE(scheduled, 0) + COALESCE(blocked, 0))::bigint AS pending,
    COALESCE(ready, 0)::bigint AS ready, COALESCE(scheduled, 0)::bigint AS scheduled,
    COALESCE(blocked, 0)::bigint AS blocked, COALESCE(running, 0)::bigint AS running,
    COALESCE(set_aside, 0)::bigint AS paused_jobs, COALESCE(succeeded, 0)::bigint AS succeeded,
    COALESCE(failed, 0)::bigint AS failed, COALESCE(canceled, 0)::bigint AS canceled,
    -- When the longest waiting of the jobs that can run was due.
    ratchet.readable_time(oldest) AS oldest_due
FROM (
    SELECT queue AS name, sum(n) FILTER (WHERE kind = 0) AS ready, sum(n) FILTER (WHERE kind = 10) AS scheduled,
        sum(n) FILTER (WHERE kind = 11) AS blocked, sum(n) FILTER (WHERE kind = 1) AS running,
        sum(n) FILTER (WHERE kind = 4) AS set_aside, sum(n) FILTER (WHERE kind = 2) AS succeeded,
        sum(n) FILTER (WHERE kind = 3) AS failed, sum(n) FILTER (WHERE kind = 5) AS canceled, min(oldest) AS oldest
    FROM (
        SELECT queue, 0 AS kind, count(*) AS n, min(due) AS oldest FROM ratchet.ready GROUP BY queue
        UNION ALL SELECT queue, 10, count(*), NULL FROM ratchet.scheduled GROUP BY queue
        UNION ALL SELECT queue, 11, count(*), NULL FROM ratchet.blocked GROUP BY queue
        UNION ALL SELECT queue, 1, sum(remaining), NULL FROM ratchet.lease GROUP BY queue
        UNION ALL SELECT queue, 4, count(*), NULL FROM ratchet.paused GROUP BY queue
        UNION ALL SELECT queue, state, sum(change), NULL FROM ratchet.tally GROUP BY queue, state
    ) counted
    GROUP BY queue
) numbers
FULL JOIN (SELECT q.name, ratchet.readable_json(q.rules) AS rules FROM ratchet.queue q) ruled USING (name);

-- Nodes with a valid lease, and nodes that still hold jobs.
CREATE VIEW ratchet.v_nodes AS
SELECT n.id, n.host, n.pid, n.program, n.binary_version, n.queues, cardinality(n.names) AS jobs_known,
    ratchet.readable_time(n.joined_at) AS joined_at, ratchet.readable_time(n.until) AS lease_until,
    n.until > c.now AS alive,
    COALESCE(held.running, 0) AS running,
    COALESCE(leads.until > c.now, false) AS leads
FROM ratchet.node n
CROSS JOIN (SELECT ratchet.now_micros() AS now) c
LEFT JOIN (SELECT l.node, sum(l.remaining) AS running FROM ratchet.lease l GROUP BY l.node) held ON held.node = n.id
LEFT JOIN ratchet.leader leads ON leads.node = n.id
WHERE n.until > c.now OR held.running > 0;
