-- At least one row: the clock, whether the claim must take the long way, when the next job falls due, and a claimed job.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
-- The queues asked for, if the node lives.
asked AS MATERIALIZED (
    SELECT a.*
    FROM clock, unnest($1::text[], $2::integer[], $3::uuid[], $4::bigint[]) WITH ORDINALITY
        AS a(queue, room, lease, bound, place)
    WHERE EXISTS (SELECT FROM ratchet.node WHERE id = $5 AND until > clock.now)
),
-- The first due jobs of each queue that the node knows and whose key has a free slot. The bound keeps the scan off the
-- dead entries of jobs claimed before.
picked AS MATERIALIZED (
    SELECT a.place, a.lease, r.*
    FROM asked a CROSS JOIN LATERAL (
        SELECT r.ctid AS spot, r.*
        FROM ratchet.ready r
        WHERE r.queue = a.queue AND r.sort_key >= a.bound
            AND r.job_version <= ($7::integer[])[array_position($6::text[], r.name)]
            AND (r.ckey IS NULL OR (SELECT count(*) FROM ratchet.slot s WHERE s.key = r.ckey) < r.climit)
        ORDER BY r.sort_key, r.due, r.job
        LIMIT a.room
        FOR UPDATE SKIP LOCKED
    ) r
),
-- The next job of each queue that falls due and that the node knows.
coming AS MATERIALIZED (
    SELECT min(s.due) AS next_due
    FROM asked a CROSS JOIN LATERAL (
        SELECT s.due FROM ratchet.scheduled s
        WHERE s.queue = a.queue AND s.job_version <= ($7::integer[])[array_position($6::text[], s.name)]
        ORDER BY s.due LIMIT 1
    ) s
),
-- Whether something needs a closer look: a job that has fallen due, a key with a limit, a job that must run alone.
road AS MATERIALIZED (
    SELECT EXISTS (SELECT FROM picked WHERE ckey IS NOT NULL OR crashes >= $8)
        OR EXISTS (
            SELECT FROM asked a, clock, LATERAL (
                SELECT FROM ratchet.scheduled s WHERE s.queue = a.queue AND s.due <= clock.now ORDER BY s.due LIMIT 1
            ) s
        ) AS long
),
-- What is claimed.
chosen AS MATERIALIZED (SELECT p.* FROM picked p, road WHERE NOT road.long),
taken AS (DELETE FROM ratchet.ready WHERE ctid = ANY (ARRAY(SELECT spot FROM chosen))),
-- One lease per queue.
leased AS (
    INSERT INTO ratchet.lease (id, node, at, remaining, started, keyed, queue, jobs, versions, dues, runs, attempts,
        crashes, deferrals, generations)
    SELECT lease, $5, clock.now, count(*), $9, bool_or(keyed), queue, array_agg(job), array_agg(version + 1),
        array_agg(due), array_agg(run + 1), array_agg(attempts), array_agg(crashes), array_agg(deferrals),
        array_agg(generation)
    FROM chosen, clock GROUP BY lease, queue, clock.now
)
SELECT clock.now, road.long, coming.next_due, c.lease, c.job, c.version + 1 AS version, c.run + 1 AS run, c.due,
    c.attempts, c.crashes, c.deferrals, c.generation, c.sort_key,
    j.queued_at, j.name, j.version AS job_version, j.queue, j.priority, j.payload, j.business_key, j.idempotency_key,
    j.ckey, j.climit, j.service, j.tags::text AS tags, j.tenant, j.correlation_id, j.extra,
    n.percent, n.message, n.checkpoint
FROM clock CROSS JOIN road CROSS JOIN coming
LEFT JOIN chosen c ON true
-- One look-up per job: the planner takes the limit for a tenth of the table and would rather read all of it.
LEFT JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = c.job OFFSET 0) j ON true
LEFT JOIN LATERAL (SELECT * FROM ratchet.note n WHERE n.job = c.job OFFSET 0) n ON true
ORDER BY c.place, c.sort_key, c.due, c.job
