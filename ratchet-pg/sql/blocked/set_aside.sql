-- One row: how many jobs were set aside, of those at the head of their queue that cannot run now.
WITH live AS MATERIALIZED (SELECT n.queues, n.names, n.versions FROM ratchet.node n WHERE n.until > ratchet.now_micros()),
-- In a queue that no node serves, no claim has to skip jobs.
queues AS MATERIALIZED (SELECT DISTINCT unnest(l.queues) AS queue FROM live l),
-- The names and versions that at least one live node knows.
known AS MATERIALIZED (
    SELECT k.name, max(k.version) AS version
    FROM live l CROSS JOIN LATERAL unnest(l.names, l.versions) AS k(name, version) GROUP BY k.name
),
-- Services whose breaker is open.
shut AS MATERIALIZED (
    SELECT b.service FROM ratchet.breaker b
    WHERE NOT b.closed AND (b.until IS NULL OR b.until > ratchet.now_micros())
),
-- The heads of the queues. A job that has crashed its worker waits for other reasons.
head AS MATERIALIZED (
    SELECT r.row_id, CASE
        WHEN NOT EXISTS (SELECT FROM known k WHERE k.name = r.name AND r.job_version <= k.version)
            THEN 'name:' || r.name || ':' || r.job_version
        WHEN (SELECT count(*) FROM ratchet.slot s WHERE s.key = r.ckey AND NOT s.probe) >= r.climit THEN 'key:' || r.ckey
        WHEN r.service IN (SELECT service FROM shut) THEN 'service:' || r.service
    END AS cause
    FROM queues q CROSS JOIN LATERAL (
        SELECT r.ctid AS row_id, r.name, r.job_version, r.ckey, r.climit, r.service,
            r.crashes
        FROM ratchet.ready r WHERE r.queue = q.queue
        ORDER BY r.sort_key, r.due, r.job LIMIT $1
    ) r
    WHERE r.crashes = 0
),
-- A few jobs are skipped faster than they are moved.
many AS MATERIALIZED (SELECT cause FROM head WHERE cause IS NOT NULL GROUP BY cause HAVING count(*) >= $2),
chosen AS MATERIALIZED (SELECT h.row_id FROM head h WHERE h.cause IN (SELECT cause FROM many)),
locked AS MATERIALIZED (
    SELECT r.ctid AS row_id FROM ratchet.ready r
    WHERE r.ctid = ANY (ARRAY(SELECT row_id FROM chosen)) FOR UPDATE SKIP LOCKED
),
moved AS (DELETE FROM ratchet.ready WHERE ctid = ANY (ARRAY(SELECT row_id FROM locked)) RETURNING *),
stored AS (
    INSERT INTO ratchet.blocked (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges, cause)
    SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges, CASE
        WHEN NOT EXISTS (SELECT FROM known k WHERE k.name = m.name AND m.job_version <= k.version)
            THEN 'name:' || m.name || ':' || m.job_version
        WHEN (SELECT count(*) FROM ratchet.slot s WHERE s.key = m.ckey AND NOT s.probe) >= m.climit THEN 'key:' || m.ckey
        ELSE 'service:' || m.service
    END
    FROM moved m
    RETURNING job
)
SELECT count(*) FROM stored
