-- Views for people: ids, states, times and JSON in a readable form. The library does not use them.

-- All jobs. Arguments that are secret or unknown to the catalog are masked.
CREATE VIEW ratchet_v_jobs AS
SELECT lower(substr(hex(j.id), 1, 8) || '-' || substr(hex(j.id), 9, 4) || '-' || substr(hex(j.id), 13, 4) || '-' || substr(hex(j.id), 17, 4)
        || '-' || substr(hex(j.id), 21)) AS id,
    t.name, j.queue,
    CASE j.state WHEN 0 THEN 'PENDING' WHEN 1 THEN 'RUNNING' WHEN 2 THEN 'SUCCEEDED' WHEN 3 THEN 'FAILED' WHEN 4 THEN 'PAUSED'
        WHEN 5 THEN 'CANCELED' END AS state,
    t.options ->> 'priority' AS priority,
    strftime('%Y-%m-%dT%H:%M:%S', j.queued_at / 1000000, 'unixepoch') || printf('.%06dZ', j.queued_at % 1000000) AS queued_at,
    strftime('%Y-%m-%dT%H:%M:%S', j.due / 1000000, 'unixepoch') || printf('.%06dZ', j.due % 1000000) AS due,
    strftime('%Y-%m-%dT%H:%M:%S', j.started_at / 1000000, 'unixepoch') || printf('.%06dZ', j.started_at % 1000000) AS started_at,
    strftime('%Y-%m-%dT%H:%M:%S', j.finished_at / 1000000, 'unixepoch') || printf('.%06dZ', j.finished_at % 1000000) AS finished_at,
    j.attempts, j.crashes, j.deferrals, j.generation, j.run, j.fence AS version,
    CASE WHEN j.node IS NOT NULL THEN lower(substr(hex(j.node), 1, 8) || '-' || substr(hex(j.node), 9, 4) || '-' || substr(hex(j.node), 13, 4) || '-' || substr(hex(j.node), 17, 4)
        || '-' || substr(hex(j.node), 21)) END AS node,
    -- Why a claim has set it aside: `name:…`, `key:…`, `service:…`, `parent` or `unreadable`.
    CASE j.ready
        WHEN 2 THEN CASE
            WHEN a.unknown = 1 THEN 'name:' || a.name
            WHEN a.slot_key IS NOT NULL AND a.service IS NOT NULL THEN 'key:' || a.slot_key || ' or service:' || a.service
            ELSE COALESCE('key:' || a.slot_key, 'service:' || a.service)
        END
        WHEN 3 THEN 'parent'
        WHEN 4 THEN 'unreadable'
    END AS blocked_by,
    CASE WHEN json_valid(j.envelope) THEN j.envelope ->> 'reason' END AS reason,
    CASE WHEN json_valid(j.error) THEN j.error ->> 'error_type' END AS error_type,
    CASE WHEN json_valid(j.error) THEN j.error ->> 'message' END AS error,
    CASE WHEN json_valid(j.error) THEN j.error ->> 'fingerprint' END AS fingerprint,
    j.mine ->> 'tenant' AS tenant, j.mine -> 'tags' AS tags, j.mine ->> 'business_key' AS business_key,
    j.mine ->> 'idempotency_key' AS idempotency_key, j.slot_key AS concurrency_key, t.options ->> 'service' AS service,
    j.mine ->> 'correlation_id' AS correlation_id,
    CASE WHEN json_valid(CAST(j.payload AS TEXT)) AND json_type(CAST(j.payload AS TEXT)) = 'object' THEN (
        SELECT json_group_object(field.key, CASE
            WHEN EXISTS (
                SELECT 1 FROM ratchet_catalog k, json_each(k.entry, '$.args') arg
                WHERE (k.name = t.name OR t.name IN (SELECT value FROM json_each(k.entry, '$.aliases')))
                    AND arg.value ->> 'name' = field.key
            ) AND NOT EXISTS (
                SELECT 1 FROM ratchet_catalog k, json_each(k.entry, '$.args') arg
                WHERE (k.name = t.name OR t.name IN (SELECT value FROM json_each(k.entry, '$.aliases')))
                    AND arg.value ->> 'name' = field.key AND arg.value ->> 'secret'
            ) THEN json(CAST(j.payload AS TEXT) -> field.fullkey) ELSE '***' END)
        FROM json_each(CAST(j.payload AS TEXT)) field
    ) ELSE '"***"' END AS arguments,
    CASE WHEN json_valid(j.output) THEN json(j.output) END AS output,
    CASE WHEN json_valid(j.progress) THEN j.progress ->> 'percent' END AS progress,
    CASE WHEN json_valid(j.progress) THEN j.progress ->> 'message' END AS progress_message
FROM (SELECT *, CASE WHEN json_valid(own) THEN own END AS mine FROM ratchet_job) j
JOIN (SELECT *, CASE WHEN json_valid(body) THEN body END AS options FROM ratchet_template) t ON t.id = j.template
LEFT JOIN ratchet_aside a ON a.lane = j.lane;

-- Failed jobs by name and fingerprint, as `ratchet failures list` groups them. The columns without an aggregate are those of
-- the job that failed last.
CREATE VIEW ratchet_v_failures AS
SELECT name, fingerprint, jobs,
    strftime('%Y-%m-%dT%H:%M:%S', first / 1000000, 'unixepoch') || printf('.%06dZ', first % 1000000) AS first,
    strftime('%Y-%m-%dT%H:%M:%S', max(at) / 1000000, 'unixepoch') || printf('.%06dZ', max(at) % 1000000) AS last,
    reason, error_type, error, id AS latest
FROM (
    SELECT *, count(*) OVER grouped AS jobs, min(at) OVER grouped AS first
    FROM (
        SELECT t.name, j.envelope -> 'failure' ->> 'fingerprint' AS fingerprint, j.finished_at AS at,
            j.envelope ->> 'reason' AS reason, j.envelope -> 'failure' ->> 'error_type' AS error_type,
            j.envelope -> 'failure' ->> 'message' AS error,
            lower(substr(hex(j.id), 1, 8) || '-' || substr(hex(j.id), 9, 4) || '-' || substr(hex(j.id), 13, 4) || '-' || substr(hex(j.id), 17, 4)
            || '-' || substr(hex(j.id), 21)) AS id
        FROM ratchet_job j
        JOIN ratchet_template t ON t.id = j.template
        WHERE j.state = 3 AND json_valid(j.envelope)
    )
    WINDOW grouped AS (PARTITION BY name, fingerprint)
)
GROUP BY name, fingerprint;

-- Queues that have jobs or rules. The numbers are those of `ratchet queues list`.
CREATE VIEW ratchet_v_queues AS
SELECT n.name,
    COALESCE(q.rules ->> 'paused', 0) AS paused,
    q.rules ->> '$.limits.concurrency' AS concurrency,
    q.rules ->> '$.limits.rate.jobs' AS rate,
    (q.rules ->> '$.limits.rate.per.secs') + (q.rules ->> '$.limits.rate.per.nanos') / 1e9 AS rate_per,
    COALESCE(sum(n.jobs) FILTER (WHERE n.state = 0), 0) AS pending,
    (SELECT count(*) FROM ratchet_job j WHERE j.queue = n.name AND j.state = 0 AND j.ready = 1) AS ready,
    COALESCE(sum(n.jobs) FILTER (WHERE n.state = 1), 0) AS running,
    COALESCE(sum(n.jobs) FILTER (WHERE n.state = 4), 0) AS paused_jobs,
    COALESCE(sum(n.jobs) FILTER (WHERE n.state = 2), 0) AS succeeded,
    COALESCE(sum(n.jobs) FILTER (WHERE n.state = 3), 0) AS failed,
    COALESCE(sum(n.jobs) FILTER (WHERE n.state = 5), 0) AS canceled,
    -- When the longest waiting of the jobs that can run was due.
    (SELECT strftime('%Y-%m-%dT%H:%M:%S', min(j.due) / 1000000, 'unixepoch') || printf('.%06dZ', min(j.due) % 1000000)
        FROM ratchet_job j WHERE j.queue = n.name AND j.state = 0 AND j.ready = 1) AS oldest_due
FROM (
    SELECT t.queue AS name, c.state, sum(c.jobs) AS jobs
    FROM ratchet_count c JOIN ratchet_template t ON t.id = c.template GROUP BY t.queue, c.state HAVING sum(c.jobs) > 0
    -- A queue without jobs has no state.
    UNION ALL SELECT name, NULL, 0 FROM ratchet_queue
) n
LEFT JOIN ratchet_queue q ON q.name = n.name
GROUP BY n.name;

-- Nodes with a valid lease by the clock of the reader, and nodes that still hold jobs.
CREATE VIEW ratchet_v_nodes AS
SELECT lower(substr(hex(n.id), 1, 8) || '-' || substr(hex(n.id), 9, 4) || '-' || substr(hex(n.id), 13, 4) || '-' || substr(hex(n.id), 17, 4)
        || '-' || substr(hex(n.id), 21)) AS id,
    n.host, n.pid, n.program, n.binary_version, n.queues,
    strftime('%Y-%m-%dT%H:%M:%S', n.joined_at / 1000000, 'unixepoch') || printf('.%06dZ', n.joined_at % 1000000) AS joined_at,
    strftime('%Y-%m-%dT%H:%M:%S', n.lease_until / 1000000, 'unixepoch') || printf('.%06dZ', n.lease_until % 1000000) AS lease_until,
    n.lease_until > CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) AS alive,
    (SELECT count(*) FROM ratchet_job j WHERE j.node = n.id AND j.state = 1) AS running,
    EXISTS (SELECT 1 FROM ratchet_leader l WHERE l.node = n.id) AS leads
FROM ratchet_node n
WHERE n.lease_until > CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)
    OR EXISTS (SELECT 1 FROM ratchet_job j WHERE j.node = n.id AND j.state = 1);
