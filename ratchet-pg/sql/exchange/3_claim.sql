-- The queues asked for, if the node lives, with the services whose breakers are open, and those whose may be tried. While
-- one may be tried there is no bound: its jobs were passed over, wherever they stand.
asked AS MATERIALIZED (
    SELECT clock.now, a.queue, a.room, a.lease, a.place, a.due, a.job, b.shut, b.tried, b.next AS next_try,
        CASE WHEN b.tried = '{}' THEN a.sort_key ELSE '-9223372036854775808'::bigint END AS sort_key
    FROM clock CROSS JOIN LATERAL (
        SELECT COALESCE(array_agg(b.service) FILTER (WHERE b.until IS NULL OR b.until > clock.now), '{}') AS shut,
            COALESCE(array_agg(b.service) FILTER (WHERE b.until <= clock.now), '{}') AS tried,
            min(b.until) FILTER (WHERE b.until > clock.now) AS next
        FROM ratchet.breaker b WHERE NOT b.closed
    ) b CROSS JOIN unnest($1::text[], $2::integer[], $3::uuid[], $4::bigint[], $10::bigint[], $11::uuid[]) WITH ORDINALITY
        AS a(queue, room, lease, sort_key, due, job, place)
    WHERE EXISTS (SELECT FROM ratchet.node WHERE id = $5 AND until > clock.now)
),
-- The first due jobs of each queue that the node knows, whose key has a free slot and whose breaker is not open. The bound
-- keeps the scan off the dead entries of jobs claimed before. Odd ones need a closer look: a key with a limit, a job that
-- must run alone, a breaker to be tried.
picked AS MATERIALIZED (
    SELECT a.place, r.*
    FROM asked a CROSS JOIN LATERAL (
        SELECT r.ctid AS spot, r.job, r.due, r.version, r.run, r.attempts, r.crashes, r.deferrals, r.generation, r.keyed,
            r.sort_key, r.name, r.job_version, r.service, r.payload,
            r.ckey IS NOT NULL OR r.crashes >= $8 OR r.service = ANY (a.tried) AS odd
        FROM ratchet.ready r
        WHERE r.queue = a.queue AND (r.sort_key, r.due, r.job) >= (a.sort_key, a.due, a.job)
            AND r.job_version <= ($7::integer[])[array_position($6::text[], r.name)]
            AND (r.judges IS NULL OR r.judges::jsonb <@ to_jsonb($6::text[]))
            AND (r.ckey IS NULL OR (SELECT count(*) FROM ratchet.slot s WHERE s.key = r.ckey) < r.climit)
            AND (r.service IS NULL OR r.service <> ALL (a.shut))
        ORDER BY r.sort_key, r.due, r.job
        LIMIT a.room
        FOR UPDATE SKIP LOCKED
    ) r
),
-- Whether a job has fallen due that must be put in line first, when the next one does that the node knows, and whether
-- something needs a closer look: odd jobs, or a queue with rules. If neither, what was picked is claimed.
road AS MATERIALIZED (
    SELECT l.*, NOT l.long AND NOT l.due AS clear
    FROM (
        SELECT COALESCE(bool_or(s.due <= a.now), false) AS due, LEAST(min(s.due), min(a.next_try)) AS next_due,
            EXISTS (SELECT FROM picked WHERE odd)
                OR EXISTS (SELECT FROM ratchet.queue q WHERE q.name = ANY ($1::text[])) AS long
        FROM asked a LEFT JOIN LATERAL (
            SELECT s.due FROM ratchet.scheduled s
            WHERE s.queue = a.queue AND (s.due <= a.now OR (
                s.job_version <= ($7::integer[])[array_position($6::text[], s.name)]
                AND (s.judges IS NULL OR s.judges::jsonb <@ to_jsonb($6::text[]))))
            ORDER BY s.due LIMIT 1
        ) s ON true
    ) l
),
taken AS (
    DELETE FROM ratchet.ready
    WHERE ctid = ANY (ARRAY(SELECT p.spot FROM picked p WHERE (SELECT clear FROM road)))
),
-- What was claimed, queue by queue, in order. Of jobs with no more to them than what stands in line, that is all.
line AS MATERIALIZED (
    SELECT a.place, a.lease, a.queue, a.now, g.*, c.*
    FROM asked a CROSS JOIN LATERAL (
        SELECT count(*) AS n, bool_or(p.keyed) AS keyed, bool_or(p.version > 0) AS moved,
            bool_or(p.payload IS NOT NULL) AS carried, array_agg(p.job) AS jobs, array_agg(p.due) AS dues
        FROM picked p WHERE p.place = a.place AND (SELECT clear FROM road)
    ) g CROSS JOIN LATERAL (
        SELECT array_agg(p.sort_key) AS sort_keys, array_agg(p.name) AS names, array_agg(p.job_version) AS job_versions,
            array_agg(p.service) AS services, array_agg(p.payload) AS payloads
        FROM picked p WHERE p.place = a.place AND g.carried
    ) c
    WHERE g.n > 0
),
-- One lease per queue, its members in the order of the line. What every first run has in common is left out if all are
-- first runs.
leased AS (
    INSERT INTO ratchet.lease (id, node, at, remaining, started, keyed, queue, jobs, dues, versions, runs, attempts,
        crashes, deferrals, generations)
    SELECT l.lease, $5, l.now, l.n, $9, l.keyed, l.queue, l.jobs, l.dues, m.versions, m.runs, m.attempts,
        m.crashes, m.deferrals, m.generations
    FROM line l CROSS JOIN LATERAL (
        SELECT array_agg(p.version + 1) AS versions, array_agg(p.run + 1) AS runs, array_agg(p.attempts) AS attempts,
            array_agg(p.crashes) AS crashes, array_agg(p.deferrals) AS deferrals, array_agg(p.generation) AS generations
        FROM picked p WHERE p.place = l.place AND l.moved
    ) m
)
