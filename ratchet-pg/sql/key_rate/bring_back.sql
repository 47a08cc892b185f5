-- No rows. Returns the first jobs of lanes to `ready`. An expired job would take the turn of another one.
WITH first AS MATERIALIZED (
    SELECT b.row_id
    FROM unnest($1::text[], $2::bigint[]) AS l(cause, jobs) CROSS JOIN LATERAL (
        SELECT b.ctid AS row_id FROM ratchet.blocked b
        WHERE b.cause = l.cause AND NOT EXISTS (SELECT FROM ratchet.expiry e WHERE e.job = b.job AND e.at <= $3)
        ORDER BY b.sort_key, b.due, b.job LIMIT l.jobs FOR UPDATE SKIP LOCKED
    ) b
),
moved AS (DELETE FROM ratchet.blocked WHERE ctid = ANY (ARRAY(SELECT row_id FROM first)) RETURNING *)
INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit,
    keyed, queue, name, ckey, service, judges, tenant)
SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name,
    ckey, service, judges, (SELECT j.tenant FROM ratchet.job j WHERE j.id = moved.job)
FROM moved
