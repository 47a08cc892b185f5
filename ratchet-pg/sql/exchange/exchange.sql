-- One row of tidings (`job` is null), then one per claimed job: settles successes, then claims, in one commit.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
-- The leases of the successes, locked in one order. Whoever takes a member away without an outcome rewrites this row, so
-- a settle that had to wait for the lock sees it.
locked AS MATERIALIZED (SELECT * FROM ratchet.lease WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE),
-- The ends. A job is named at the place its run has in the lease, so nothing needs to be looked for. One that has ended
-- already fails the statement; that is for the long way to sort out.
done AS (
    INSERT INTO ratchet.outcome (job, at, due, version, run, lease, node, started_at, duration, attempts, crashes,
        deferrals, generation, attempt, state, result, output)
    SELECT m.job, clock.now, m.due, COALESCE(m.version, 1) + 1, COALESCE(m.run, 1), l.id, l.node, l.at, m.duration,
        COALESCE(m.attempts, 0), COALESCE(m.crashes, 0), COALESCE(m.deferrals, 0), COALESCE(m.generation, 1),
        COALESCE(m.attempts, 0) + 1, 2, 0, m.output
    FROM clock CROSS JOIN unnest($1::uuid[], $2::integer[], $3::integer[]) AS s(lease, low, high)
    JOIN locked l ON l.id = s.lease
    CROSS JOIN LATERAL unnest(l.jobs, l.versions, l.dues, l.runs, l.attempts, l.crashes, l.deferrals, l.generations,
            ($4::uuid[])[s.low:s.high], ($5::bigint[])[s.low:s.high], ($6::text[])[s.low:s.high])
        AS m(job, version, due, run, attempts, crashes, deferrals, generation, asked, duration, output)
    WHERE m.asked = m.job AND m.version IS DISTINCT FROM 0
    RETURNING job, lease, tableoid AS part
),
-- How many members left each lease, by the table their outcomes went to.
counted AS MATERIALIZED (SELECT lease, part, count(*) AS n FROM done GROUP BY lease, part),
gone AS MATERIALIZED (
    SELECT l.id, l.keyed, l.remaining - c.n AS remaining
    FROM (SELECT lease, sum(n)::integer AS n FROM counted GROUP BY lease) c JOIN locked l ON l.id = c.lease
),
lowered AS (UPDATE ratchet.lease l SET remaining = g.remaining FROM gone g WHERE l.id = g.id AND g.remaining > 0),
emptied AS (DELETE FROM ratchet.lease l USING gone g WHERE l.id = g.id AND g.remaining <= 0 RETURNING l.id),
tallied AS (
    INSERT INTO ratchet.tally (queue, state, part, change)
    SELECT l.queue, 2, c.part, sum(c.n) FROM counted c JOIN locked l ON l.id = c.lease GROUP BY l.queue, c.part
),
-- Slots of runs with a key.
freed AS (
    DELETE FROM ratchet.slot s USING gone g, done d
    WHERE g.keyed AND d.lease = g.id AND s.job = d.job AND s.lease = d.lease
    RETURNING s.queue, s.key
),
-- The jobs that have waited for these slots, as many as came free.
next AS MATERIALIZED (
    SELECT b.spot
    FROM (SELECT key, count(*) AS n FROM freed GROUP BY key) f CROSS JOIN LATERAL (
        SELECT b.ctid AS spot FROM ratchet.blocked b WHERE b.cause = 'key:' || f.key
        ORDER BY b.sort_key, b.due, b.job LIMIT f.n FOR UPDATE SKIP LOCKED
    ) b
),
unblocked AS (DELETE FROM ratchet.blocked WHERE ctid = ANY (ARRAY(SELECT spot FROM next)) RETURNING *),
put AS (
    INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges)
    SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges
    FROM unblocked
    RETURNING queue
),
-- Business keys, unless an earlier run of the job still lingers.
released AS (
    DELETE FROM ratchet.business b USING gone g, done d
    WHERE g.keyed AND d.lease = g.id AND b.job = d.job
        AND NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = d.job)
),
-- The queues asked for, if the node lives. While a breaker may be tried there is no bound: its jobs were passed over,
-- wherever they stand.
asked AS MATERIALIZED (
    SELECT a.queue, a.room, a.lease, a.place, a.due, a.job, CASE
            WHEN EXISTS (SELECT FROM ratchet.breaker b WHERE NOT b.closed AND b.until <= clock.now)
            THEN '-9223372036854775808'::bigint ELSE a.sort_key
        END AS sort_key
    FROM clock, unnest($8::text[], $9::integer[], $10::uuid[], $11::bigint[], $17::bigint[], $18::uuid[]) WITH ORDINALITY
        AS a(queue, room, lease, sort_key, due, job, place)
    WHERE EXISTS (SELECT FROM ratchet.node WHERE id = $12 AND until > clock.now)
),
-- Whether a queue has rules that need a closer look.
ruled AS MATERIALIZED (SELECT EXISTS (SELECT FROM asked a JOIN ratchet.queue q ON q.name = a.queue) AS any),
-- The first due jobs of each queue that the node knows, whose key has a free slot and whose breaker is not open. The bound
-- keeps the scan off the dead entries of jobs claimed before.
picked AS MATERIALIZED (
    SELECT a.place, r.*
    FROM asked a CROSS JOIN LATERAL (
        SELECT r.ctid AS spot, r.job, r.due, r.version, r.run, r.attempts, r.crashes, r.deferrals, r.generation, r.keyed,
            r.service, r.ckey IS NOT NULL AS limited
        FROM ratchet.ready r
        WHERE r.queue = a.queue AND (r.sort_key, r.due, r.job) >= (a.sort_key, a.due, a.job)
            AND r.job_version <= ($14::integer[])[array_position($13::text[], r.name)]
            AND (r.judges IS NULL OR r.judges::jsonb <@ to_jsonb($13::text[]))
            AND (r.ckey IS NULL OR (SELECT count(*) FROM ratchet.slot s WHERE s.key = r.ckey) < r.climit)
            AND (r.service IS NULL OR NOT EXISTS (SELECT FROM ratchet.breaker b
                WHERE b.service = r.service AND NOT b.closed AND (b.until IS NULL OR b.until > (SELECT now FROM clock))))
        ORDER BY r.sort_key, r.due, r.job
        LIMIT a.room
        FOR UPDATE SKIP LOCKED
    ) r
),
-- Whether a job has fallen due that must be looked at first, and when the next one does that the node knows.
coming AS MATERIALIZED (
    SELECT COALESCE(bool_or(s.due <= clock.now), false) AS due, min(k.due) AS next_due
    FROM asked a CROSS JOIN clock
    LEFT JOIN LATERAL (
        SELECT s.due FROM ratchet.scheduled s WHERE s.queue = a.queue ORDER BY s.due LIMIT 1
    ) s ON true
    LEFT JOIN LATERAL (
        SELECT s.due FROM ratchet.scheduled s
        WHERE s.queue = a.queue AND s.job_version <= ($14::integer[])[array_position($13::text[], s.name)]
            AND (s.judges IS NULL OR s.judges::jsonb <@ to_jsonb($13::text[]))
        ORDER BY s.due LIMIT 1
    ) k ON true
),
-- Whether something needs a closer look: rules, a key with a limit, a job that must run alone, a breaker to be tried. If not,
-- what was picked is claimed.
road AS MATERIALIZED (
    SELECT l.long, NOT l.long AND NOT coming.due AS clear
    FROM coming, (
        SELECT ruled.any OR EXISTS (SELECT FROM picked WHERE limited OR crashes >= $15)
            OR EXISTS (
                SELECT FROM picked p JOIN ratchet.breaker b ON b.service = p.service
                WHERE p.service IS NOT NULL AND NOT b.closed
            ) AS long
        FROM ruled
    ) l
),
taken AS (
    DELETE FROM ratchet.ready
    WHERE ctid = ANY (ARRAY(SELECT p.spot FROM picked p WHERE (SELECT clear FROM road)))
),
-- One lease per queue, its members in the order in which they are told below. What every first run has in common is left
-- out if all are first runs.
leased AS (
    INSERT INTO ratchet.lease (id, node, at, remaining, started, keyed, queue, jobs, dues, versions, runs, attempts,
        crashes, deferrals, generations)
    SELECT a.lease, $12, clock.now, g.n, $16, g.keyed, a.queue, g.jobs, g.dues, m.versions, m.runs, m.attempts,
        m.crashes, m.deferrals, m.generations
    FROM clock CROSS JOIN asked a CROSS JOIN LATERAL (
        SELECT count(*) AS n, bool_or(p.keyed) AS keyed, bool_or(p.version > 0) AS moved, array_agg(p.job) AS jobs,
            array_agg(p.due) AS dues
        FROM picked p WHERE p.place = a.place AND (SELECT clear FROM road)
    ) g CROSS JOIN LATERAL (
        SELECT array_agg(p.version + 1) AS versions, array_agg(p.run + 1) AS runs, array_agg(p.attempts) AS attempts,
            array_agg(p.crashes) AS crashes, array_agg(p.deferrals) AS deferrals, array_agg(p.generation) AS generations
        FROM picked p WHERE p.place = a.place AND g.moved
    ) m
    WHERE g.n > 0
)
SELECT clock.now, coming.due AS due_waits, road.long,
    LEAST(coming.next_due, (SELECT min(b.until) FROM ratchet.breaker b
        WHERE NOT b.closed AND b.until > clock.now AND EXISTS (SELECT FROM asked))) AS next_due,
    -- Only if some were not applied: those that were.
    CASE WHEN (SELECT COALESCE(sum(n), 0) FROM counted) <> $7::bigint THEN ARRAY(SELECT job FROM done) END AS applied,
    ARRAY(SELECT id FROM emptied) AS emptied, ARRAY(
        SELECT queue FROM freed
        UNION SELECT queue FROM put
        UNION SELECT l.queue FROM locked l JOIN ratchet.queue q ON q.name = l.queue AND q.limited
    ) AS freed,
    NULL::uuid AS job, NULL::bigint AS place, NULL::bigint AS version, NULL::bigint AS run, NULL::bigint AS due,
    NULL::integer AS attempts, NULL::integer AS crashes, NULL::integer AS deferrals, NULL::integer AS generation,
    NULL::bigint AS queued_at, NULL::text AS name, NULL::integer AS job_version, NULL::smallint AS priority,
    NULL::bytea AS payload, NULL::text AS business_key, NULL::text AS idempotency_key, NULL::text AS ckey,
    NULL::integer AS climit, NULL::text AS service, NULL::text AS tags, NULL::text AS tenant,
    NULL::text AS correlation_id, NULL::text AS extra
FROM clock, coming, road
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    c.job, c.place, c.version, c.run, c.due, c.attempts, c.crashes, c.deferrals, c.generation,
    j.queued_at, j.name, j.version, j.priority, j.payload, j.business_key, j.idempotency_key, j.ckey, j.climit, j.service,
    j.tags::text, j.tenant, j.correlation_id, j.extra
FROM picked c
-- One look-up per job: the planner takes the limit for a tenth of the table and would rather read all of it.
CROSS JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = c.job OFFSET 0) j
WHERE (SELECT clear FROM road)
