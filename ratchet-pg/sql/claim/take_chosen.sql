-- The claimed jobs. Their rows were locked before and have not moved since.
WITH asked AS MATERIALIZED (
    SELECT * FROM unnest($2::text[], $3::uuid[]) WITH ORDINALITY AS a(queue, lease, place)
),
-- The rows of the probes, and the slot keys that they hold.
probe AS MATERIALIZED (SELECT p.row_id, p.key FROM unnest($7::text[]::tid[], $8::text[]) AS p(row_id, key)),
taken AS (
    DELETE FROM ratchet.ready r USING asked a
    WHERE r.ctid = ANY ($1::text[]::tid[]) AND a.queue = r.queue
    RETURNING r.*, a.lease, a.place, (SELECT p.key FROM probe p WHERE p.row_id = r.ctid) AS probe
),
-- One lease per queue, with its members in the order in which they are returned below.
leased AS (
    INSERT INTO ratchet.lease (id, node, at, remaining, started, keyed, queue, jobs, versions, dues, runs, attempts,
        crashes, deferrals, generations)
    SELECT a.lease, $4, $5, g.n, $6, g.keyed, a.queue, g.jobs, g.versions, g.dues, g.runs, g.attempts, g.crashes,
        g.deferrals, g.generations
    FROM asked a CROSS JOIN LATERAL (
        SELECT count(*) AS n, bool_or(t.keyed OR t.probe IS NOT NULL) AS keyed, array_agg(t.job) AS jobs, array_agg(t.version + 1) AS versions,
            array_agg(t.due) AS dues, array_agg(t.run + 1) AS runs, array_agg(t.attempts) AS attempts,
            array_agg(t.crashes) AS crashes, array_agg(t.deferrals) AS deferrals, array_agg(t.generation) AS generations
        FROM taken t WHERE t.place = a.place
    ) g
    WHERE g.n > 0
),
-- One slot per run with a key, and one per probe.
slots AS (
    INSERT INTO ratchet.slot (job, lease, version, key, queue, probe)
    SELECT job, lease, version + 1, ckey, queue, false FROM taken WHERE ckey IS NOT NULL
    UNION ALL SELECT job, lease, version + 1, probe, queue, true FROM taken WHERE probe IS NOT NULL
)
SELECT t.job, t.place, t.version, t.run, t.due, t.attempts, t.crashes, t.deferrals, t.generation,
    j.queued_at, j.name, j.version AS job_version, j.priority, j.payload, j.business_key, j.idempotency_key, j.ckey,
    j.climit, j.service, j.tags::text AS tags, j.tenant, j.correlation_id, j.extra, j.trace
FROM taken t LEFT JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = t.job OFFSET 0) j ON true
