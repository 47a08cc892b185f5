-- The requested queues, if the lease of the node is valid, with the services whose breakers are open and those that may
-- be probed. While a service may be probed there is no bound, because its jobs were skipped at any position.
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
-- The first due jobs of each queue that the node knows, whose key has a free slot, whose breaker is not open and that
-- have not expired. A job that carries its payload has no expiry. The bound keeps the scan off the dead entries of claimed jobs. Odd jobs require the slow path: a key with a limit, a job
-- that must run in isolation, or a service to be probed.
picked AS MATERIALIZED (
    SELECT a.place, r.*
    FROM asked a CROSS JOIN LATERAL (
        SELECT r.ctid AS row_id, r.job, r.due, r.version, r.run, r.attempts, r.crashes, r.deferrals, r.generation, r.keyed,
            r.sort_key, r.name, r.job_version, r.service, r.payload,
            r.ckey IS NOT NULL OR r.crashes >= $8 OR r.service = ANY (a.tried) AS odd
        FROM ratchet.ready r
        WHERE r.queue = a.queue AND (r.sort_key, r.due, r.job) >= (a.sort_key, a.due, a.job)
            AND r.job_version <= ($7::integer[])[array_position($6::text[], r.name)]
            AND (r.judges IS NULL OR r.judges::jsonb <@ to_jsonb($6::text[]))
            AND (r.ckey IS NULL OR (SELECT count(*) FROM ratchet.slot s WHERE s.key = r.ckey AND NOT s.probe) < r.climit)
            AND (r.service IS NULL OR r.service <> ALL (a.shut))
            AND (r.payload IS NOT NULL
                OR NOT EXISTS (SELECT FROM ratchet.expiry e WHERE e.job = r.job AND e.at <= a.now))
        ORDER BY r.sort_key, r.due, r.job
        LIMIT a.room
        FOR UPDATE SKIP LOCKED
    ) r
),
-- Whether a due job must be promoted first, the next due time of a job that the node knows, and whether the slow path
-- is required because of odd jobs or a queue with rules. If neither, the picked jobs are claimed.
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
