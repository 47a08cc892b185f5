-- One row: the store's clock at the insert.
WITH clock AS MATERIALIZED (SELECT COALESCE($20::bigint, ratchet.now_micros()) AS now),
-- The new jobs with their due times, limited to the latest valid timestamp.
fresh AS MATERIALIZED (
    SELECT n.*, COALESCE(n.at, LEAST(clock.now + n.delay, 253402207200999999)) AS due, clock.now,
        n.business_key IS NOT NULL OR n.ckey IS NOT NULL AS keyed,
        -- The payload of a plain job, which is also stored in `ready`.
        CASE
            WHEN n.at IS NULL AND n.delay = 0 AND octet_length(n.payload) <= 256 AND num_nulls(n.business_key,
                n.idempotency_key, n.tenant, n.correlation_id, n.tags, n.extra, n.trace) = 7 THEN n.payload
        END AS carried
    FROM clock, unnest(
        $1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], $6::smallint[], $7::integer[], $8::text[],
        $9::text[], $10::bytea[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[],
        $17::text[], $18::text[], $19::text[]
    ) AS n(id, at, delay, head, version, priority, climit, name, queue, payload, business_key, idempotency_key, ckey,
        service, tenant, correlation_id, tags, extra, trace)
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
    INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, payload, tenant)
    SELECT id, due - head, due, 0, 0, version, 0, 0, 0, 1, climit, keyed, queue, name, ckey, service, carried, tenant
    FROM fresh WHERE due <= now
),
-- Jobs that are due later.
due_later AS (
    INSERT INTO ratchet.scheduled (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service)
    SELECT id, due - head, due, 0, 0, version, 0, 0, 0, 1, climit, keyed, queue, name, ckey, service
    FROM fresh WHERE due > now
)
SELECT now FROM clock
