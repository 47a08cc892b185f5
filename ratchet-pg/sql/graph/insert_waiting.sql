-- No rows. Inserts steps that wait for other steps.
INSERT INTO ratchet.blocked (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges, cause)
SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges,
    'parent'
FROM unnest(
    $1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::integer[], $8::integer[],
    $9::integer[], $10::integer[], $11::integer[], $12::boolean[], $13::text[], $14::text[], $15::text[], $16::text[],
    $17::text[], $18::text[]
) AS b(job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey,
    service, judges, tenant)
