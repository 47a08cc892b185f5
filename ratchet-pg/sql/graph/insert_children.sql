-- One row: the store's clock at the insert. Inserts children of a batch that are due now and differ only in their
-- payload and their number.
WITH clock AS MATERIALIZED (SELECT COALESCE($3::bigint, ratchet.now_micros()) AS now),
-- The immutable part of the jobs.
stored AS (
    INSERT INTO ratchet.job (id, queued_at, due, head, version, priority, climit, name, queue, payload, ckey, service, tenant,
        correlation_id, tags, trace, extra)
    SELECT n.id, clock.now, clock.now, $4::bigint, $5::integer, $6::smallint, $7::integer, $8::text, $9::text, n.payload,
        $10::text, $11::text, $12::text, $13::text, $14::jsonb, $15::text, n.extra
    FROM clock, unnest($1::uuid[], $2::bytea[], $16::text[]) AS n(id, payload, extra)
),
due_now AS (
    INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, tenant)
    SELECT n.id, clock.now - $4::bigint, clock.now, 0, 0, $5::integer, 0, 0, 0, 1, $7::integer, $10::text IS NOT NULL, $9::text,
        $8::text, $10::text, $11::text, $12::text
    FROM clock, unnest($1::uuid[]) AS n(id)
),
members AS (
    INSERT INTO ratchet.member (job, graph, grp, delay, linked, first_match)
    SELECT n.id, $17::uuid, $18::uuid, 0, false, false FROM unnest($1::uuid[]) AS n(id)
)
SELECT now FROM clock
