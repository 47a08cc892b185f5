-- The jobs that waited for these slots, as many as were freed. An expired job would take the turn of another one.
next AS MATERIALIZED (
    SELECT b.row_id
    FROM (SELECT key, count(*) AS n FROM freed WHERE NOT probe GROUP BY key) f CROSS JOIN LATERAL (
        SELECT b.ctid AS row_id FROM ratchet.blocked b WHERE b.cause = 'key:' || f.key
            AND NOT EXISTS (SELECT FROM ratchet.expiry e WHERE e.job = b.job AND e.at <= ratchet.now_micros())
        ORDER BY b.sort_key, b.due, b.job LIMIT f.n FOR UPDATE SKIP LOCKED
    ) b
),
unblocked AS (DELETE FROM ratchet.blocked WHERE ctid = ANY (ARRAY(SELECT row_id FROM next)) RETURNING *),
put AS (
    INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges, tenant)
    SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges, (SELECT j.tenant FROM ratchet.job j WHERE j.id = unblocked.job)
    FROM unblocked
    RETURNING queue
),
