-- The claimed jobs, in order.
WITH chosen AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS c(job, lease, place)
),
-- Their rows, locked before.
taken AS (DELETE FROM ratchet.ready r USING chosen c WHERE r.job = c.job RETURNING r.*, c.lease, c.place),
-- One lease per queue.
leased AS (
    INSERT INTO ratchet.lease (id, node, at, remaining, started, keyed, queue, jobs, versions, dues, runs, attempts,
        crashes, deferrals, generations)
    SELECT lease, $3, $4, count(*), $5, bool_or(keyed), queue, array_agg(job), array_agg(version + 1), array_agg(due),
        array_agg(run + 1), array_agg(attempts), array_agg(crashes), array_agg(deferrals), array_agg(generation)
    FROM taken GROUP BY lease, queue
),
-- One slot per run with a key.
slots AS (
    INSERT INTO ratchet.slot (job, lease, version, key, queue)
    SELECT job, lease, version + 1, ckey, queue FROM taken WHERE ckey IS NOT NULL
)
SELECT $4::bigint AS now, t.lease, t.job, t.version + 1 AS version, t.run + 1 AS run, t.due, t.attempts, t.crashes,
    t.deferrals, t.generation, t.sort_key,
    j.queued_at, j.name, j.version AS job_version, j.queue, j.priority, j.payload, j.business_key, j.idempotency_key,
    j.ckey, j.climit, j.service, j.tags::text AS tags, j.tenant, j.correlation_id, j.extra,
    n.percent, n.message, n.checkpoint
FROM taken t
CROSS JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = t.job OFFSET 0) j
LEFT JOIN LATERAL (SELECT * FROM ratchet.note n WHERE n.job = t.job OFFSET 0) n ON true
ORDER BY t.place
