-- One row: the store's clock at the insert. Inserts jobs, some of which are part of a graph.
WITH clock AS MATERIALIZED (SELECT COALESCE($20::bigint, ratchet.now_micros()) AS now),
-- The new jobs with their due times, limited to the latest valid timestamp.
fresh AS MATERIALIZED (
    SELECT n.*, COALESCE(n.at, LEAST(clock.now + n.delay, 253402207200999999)) AS due, clock.now,
        n.business_key IS NOT NULL OR n.ckey IS NOT NULL AS keyed
    FROM clock, unnest(
        $1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], $6::smallint[], $7::integer[], $8::text[],
        $9::text[], $10::bytea[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[],
        $17::text[], $18::text[], $19::text[], $21::uuid[], $22::uuid[], $23::bigint[], $24::boolean[], $25::boolean[],
        $26::text[], $27::text[]
    ) AS n(id, at, delay, head, version, priority, climit, name, queue, payload, business_key, idempotency_key, ckey,
        service, tenant, correlation_id, tags, extra, trace, graph, grp, pause, linked, first_match, judges, wait)
),
-- The immutable part of the jobs.
stored AS (
    INSERT INTO ratchet.job (id, queued_at, due, head, version, priority, climit, name, queue, payload, business_key,
        idempotency_key, ckey, service, tenant, correlation_id, tags, extra, trace)
    SELECT id, now, due, head, version, priority, climit, name, queue, payload, business_key, idempotency_key, ckey, service,
        tenant, correlation_id, tags::jsonb, extra, trace
    FROM fresh
),
-- Jobs that are due now.
due_now AS (
    INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges, tenant)
    SELECT id, due - head, due, 0, 0, version, 0, 0, 0, 1, climit, keyed, queue, name, ckey, service, judges, tenant
    FROM fresh WHERE wait IS NULL AND due <= now
),
-- Jobs that are due later.
due_later AS (
    INSERT INTO ratchet.scheduled (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges)
    SELECT id, due - head, due, 0, 0, version, 0, 0, 0, 1, climit, keyed, queue, name, ckey, service, judges
    FROM fresh WHERE wait IS NULL AND due > now
),
-- Jobs that wait for other steps.
waiting AS (
    INSERT INTO ratchet.blocked (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges, cause)
    SELECT id, due - head, due, 0, 0, version, 0, 0, 0, 1, climit, keyed, queue, name, ckey, service, judges, 'parent'
    FROM fresh WHERE wait IS NOT NULL
),
graphs AS (
    INSERT INTO ratchet.graph (id) SELECT DISTINCT graph FROM fresh WHERE graph IS NOT NULL ON CONFLICT DO NOTHING
),
members AS (
    INSERT INTO ratchet.member (job, graph, grp, delay, linked, first_match, judges, wait)
    SELECT id, graph, grp, pause, linked, first_match, judges, wait FROM fresh WHERE graph IS NOT NULL
)
SELECT now FROM clock
