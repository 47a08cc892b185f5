-- One row: the last cause examined, how many jobs returned to `ready` because their cause has ended, and their queues.
-- Claims bring back the jobs of `rate:…`. There can be many of these causes, so the rest of them is skipped.
WITH RECURSIVE causes AS (
    (
        SELECT b.cause, 1 AS n FROM ratchet.blocked b
        WHERE b.cause > CASE WHEN $1 LIKE 'rate:%' THEN 'service' ELSE $1 END ORDER BY b.cause LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT b.cause FROM ratchet.blocked b
        WHERE b.cause > CASE WHEN c.cause LIKE 'rate:%' THEN 'service' ELSE c.cause END ORDER BY b.cause LIMIT 1
    ), c.n + 1
    FROM causes c WHERE c.cause IS NOT NULL AND c.n < 100
),
known AS MATERIALIZED (
    SELECT k.name, max(k.version) AS version
    FROM ratchet.node n CROSS JOIN LATERAL unnest(n.names, n.versions) AS k(name, version)
    WHERE n.until > ratchet.now_micros() GROUP BY k.name
),
-- How many jobs of each cause may return, judged by the first job.
free AS MATERIALIZED (
    SELECT c.cause, CASE
        WHEN c.cause LIKE 'name:%' THEN CASE
            WHEN EXISTS (SELECT FROM known k WHERE k.name = b.name AND b.job_version <= k.version) THEN $2 ELSE 0 END
        WHEN c.cause LIKE 'key:%'
            THEN GREATEST(b.climit - (SELECT count(*) FROM ratchet.slot s WHERE s.key = b.ckey AND NOT s.probe), 0)
        -- A breaker that may be probed needs a few jobs, a closed one releases all.
        WHEN c.cause LIKE 'service:%' THEN COALESCE((
            SELECT CASE WHEN r.closed THEN $2 WHEN r.until <= ratchet.now_micros() THEN 10 ELSE 0 END
            FROM ratchet.breaker r WHERE r.service = b.service
        ), $2)
        ELSE 0
    END AS room
    FROM causes c CROSS JOIN LATERAL (
        SELECT b.name, b.job_version, b.ckey, b.climit, b.service FROM ratchet.blocked b
        WHERE b.cause = c.cause ORDER BY b.sort_key, b.due, b.job LIMIT 1
    ) b
    WHERE c.cause IS NOT NULL
),
first AS MATERIALIZED (
    SELECT b.row_id
    FROM free f CROSS JOIN LATERAL (
        SELECT b.ctid AS row_id FROM ratchet.blocked b
        WHERE b.cause = f.cause AND f.room > 0
            AND NOT EXISTS (SELECT FROM ratchet.expiry e WHERE e.job = b.job AND e.at <= ratchet.now_micros())
        ORDER BY b.sort_key, b.due, b.job LIMIT f.room FOR UPDATE SKIP LOCKED
    ) b
),
moved AS (DELETE FROM ratchet.blocked WHERE ctid = ANY (ARRAY(SELECT row_id FROM first)) RETURNING *),
put AS (
    INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges, tenant)
    SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges, (SELECT j.tenant FROM ratchet.job j WHERE j.id = moved.job)
    FROM moved
    RETURNING queue
)
SELECT (SELECT max(cause) FROM causes) AS last, (SELECT count(*) FROM put) AS n,
    ARRAY(SELECT DISTINCT queue FROM put) AS queues
