-- One row: the store's clock at the insert. Inserts jobs that are due now and differ in nothing but their arguments. If
-- a channel is given, the commit notifies other processes.
WITH clock AS MATERIALIZED (
    SELECT COALESCE($3::bigint, ratchet.now_micros()) AS now,
        -- Plain jobs carry their payload in `ready`, if it is small.
        num_nulls($12::text, $13::text, $14::jsonb, $15::text, $16::text) = 5 AS plain
),
-- The immutable part of the jobs.
stored AS (
    INSERT INTO ratchet.job (id, queued_at, due, head, version, priority, climit, name, queue, payload, ckey, service, tenant,
        correlation_id, tags, trace, extra)
    SELECT n.id, clock.now, clock.now, $4::bigint, $5::integer, $6::smallint, $7::integer, $8::text, $9::text, n.payload,
        $10::text, $11::text, $12::text, $13::text, $14::jsonb, $15::text, $16::text
    FROM clock, (SELECT unnest($1::uuid[]) AS id, unnest($2::bytea[]) AS payload) n
),
due_now AS (
    INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, payload, tenant)
    SELECT n.id, clock.now - $4::bigint, clock.now, 0, 0, $5::integer, 0, 0, 0, 1, $7::integer, $10::text IS NOT NULL, $9::text,
        $8::text, $10::text, $11::text, CASE WHEN clock.plain AND octet_length(n.payload) <= 256 THEN n.payload END,
        $12::text
    FROM clock, (SELECT unnest($1::uuid[]) AS id, unnest($2::bytea[]) AS payload) n
)
SELECT now, CASE
        WHEN $17::text IS NOT NULL THEN pg_notify($17, concat_ws(' ', $18::text, now - $4::bigint, $9::text))::text
    END AS hinted
FROM clock
