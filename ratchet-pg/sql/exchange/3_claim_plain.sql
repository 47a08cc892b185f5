-- The requested queues, if the lease of the node is valid.
asked AS MATERIALIZED (
    SELECT clock.now, a.*
    FROM clock CROSS JOIN unnest($1::text[], $2::integer[], $3::uuid[], $4::bigint[], $10::bigint[], $11::uuid[]) WITH ORDINALITY
        AS a(queue, room, lease, sort_key, due, job, place)
    WHERE EXISTS (SELECT FROM ratchet.node WHERE id = $5 AND until > clock.now)
),
-- The first due jobs of each queue that the node knows. The bound keeps the scan off the dead entries of claimed jobs.
-- This statement does not support odd jobs: jobs that must be looked up, have a key with a limit, or must run in
-- isolation.
picked AS MATERIALIZED (
    SELECT a.place, r.*
    FROM asked a CROSS JOIN LATERAL (
        SELECT r.ctid AS row_id, r.job, r.due, r.sort_key, r.name, r.job_version, r.service, r.payload,
            r.payload IS NULL OR r.ckey IS NOT NULL OR r.crashes >= $8 AS odd
        FROM ratchet.ready r
        WHERE r.queue = a.queue AND (r.sort_key, r.due, r.job) >= (a.sort_key, a.due, a.job)
            AND r.job_version <= ($7::integer[])[array_position($6::text[], r.name)]
        ORDER BY r.sort_key, r.due, r.job
        LIMIT a.room
        FOR UPDATE SKIP LOCKED
    ) r
),
-- Whether a due job must be promoted first, the next due time of a job that the node knows, and whether there is
-- something that this statement does not support: odd jobs, a queue with rules, or a breaker that is not closed. If
-- neither, the picked jobs are claimed.
road AS MATERIALIZED (
    SELECT l.*, NOT l.long AND NOT l.due AS clear
    FROM (
        SELECT COALESCE(n.due <= clock.now, false) AS due, n.due AS next_due,
            EXISTS (SELECT FROM picked WHERE odd)
                OR EXISTS (SELECT FROM ratchet.queue q WHERE q.name = ANY ($1::text[]))
                OR EXISTS (SELECT FROM ratchet.breaker b WHERE NOT b.closed) AS long
        FROM clock CROSS JOIN (
            SELECT min(s.due) AS due
            FROM asked a CROSS JOIN LATERAL (
                SELECT s.due FROM ratchet.scheduled s
                WHERE s.queue = a.queue AND (s.due <= a.now OR (
                    s.job_version <= ($7::integer[])[array_position($6::text[], s.name)]
                    AND (s.judges IS NULL OR s.judges::jsonb <@ to_jsonb($6::text[]))))
                ORDER BY s.due LIMIT 1
            ) s
        ) n
    ) l
),
