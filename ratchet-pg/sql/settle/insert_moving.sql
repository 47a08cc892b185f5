-- No rows. Returns jobs to `ready` or `scheduled`.
WITH back AS MATERIALIZED (
    SELECT * FROM unnest(
        $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::integer[], $8::integer[], $9::integer[],
        $10::integer[], $11::integer[], $12::integer[], $13::boolean[], $14::text[], $15::text[], $16::text[], $17::text[],
        $18::text[], $19::text[]
    ) AS b(job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges, tenant)
),
-- Jobs that are due now.
due_now AS (INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges, tenant) SELECT * FROM back WHERE due <= $1)
INSERT INTO ratchet.scheduled (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges)
SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges
FROM back WHERE due > $1
