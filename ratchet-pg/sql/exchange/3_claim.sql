-- The breakers that are not closed: looked at in many places, read in one. Each table that a statement names costs it time
-- at the start, used or not.
barred AS MATERIALIZED (SELECT service, until FROM ratchet.breaker WHERE NOT closed),
-- The queues asked for, if the node lives. While a breaker may be tried there is no bound: its jobs were passed over,
-- wherever they stand.
asked AS MATERIALIZED (
    SELECT a.queue, a.room, a.lease, a.place, a.due, a.job, CASE
            WHEN EXISTS (SELECT FROM barred b WHERE b.until <= clock.now)
            THEN '-9223372036854775808'::bigint ELSE a.sort_key
        END AS sort_key
    FROM clock, unnest($1::text[], $2::integer[], $3::uuid[], $4::bigint[], $10::bigint[], $11::uuid[]) WITH ORDINALITY
        AS a(queue, room, lease, sort_key, due, job, place)
    WHERE EXISTS (SELECT FROM ratchet.node WHERE id = $5 AND until > clock.now)
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
            AND r.job_version <= ($7::integer[])[array_position($6::text[], r.name)]
            AND (r.judges IS NULL OR r.judges::jsonb <@ to_jsonb($6::text[]))
            AND (r.ckey IS NULL OR (SELECT count(*) FROM ratchet.slot s WHERE s.key = r.ckey) < r.climit)
            AND (r.service IS NULL OR NOT EXISTS (SELECT FROM barred b
                WHERE b.service = r.service AND (b.until IS NULL OR b.until > (SELECT now FROM clock))))
        ORDER BY r.sort_key, r.due, r.job
        LIMIT a.room
        FOR UPDATE SKIP LOCKED
    ) r
),
-- Whether a job has fallen due that must be looked at first, and when the next one does that the node knows.
coming AS MATERIALIZED (
    SELECT COALESCE(bool_or(s.due <= clock.now), false) AS due, min(s.due) AS next_due
    FROM clock CROSS JOIN asked a CROSS JOIN LATERAL (
        SELECT s.due FROM ratchet.scheduled s
        WHERE s.queue = a.queue AND (s.due <= clock.now OR (
            s.job_version <= ($7::integer[])[array_position($6::text[], s.name)]
            AND (s.judges IS NULL OR s.judges::jsonb <@ to_jsonb($6::text[]))))
        ORDER BY s.due LIMIT 1
    ) s
),
-- Whether something needs a closer look: rules, a key with a limit, a job that must run alone, a breaker to be tried. If not,
-- what was picked is claimed.
road AS MATERIALIZED (
    SELECT l.long, NOT l.long AND NOT coming.due AS clear
    FROM coming, (
        SELECT ruled.any OR EXISTS (SELECT FROM picked WHERE limited OR crashes >= $8)
            OR EXISTS (SELECT FROM barred b JOIN picked p ON p.service = b.service) AS long
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
    SELECT a.lease, $5, clock.now, g.n, $9, g.keyed, a.queue, g.jobs, g.dues, m.versions, m.runs, m.attempts,
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
