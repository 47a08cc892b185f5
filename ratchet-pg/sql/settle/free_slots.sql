-- The queues of the runs whose slots are free, and of the jobs that are in line again for them.
WITH freed AS (
    DELETE FROM ratchet.slot s USING unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS t(job, lease, version)
    WHERE s.job = t.job AND s.lease = t.lease AND s.version = t.version
    RETURNING s.queue, s.key
),
next AS MATERIALIZED (
    SELECT b.spot
    FROM (SELECT key, count(*) AS n FROM freed GROUP BY key) f CROSS JOIN LATERAL (
        SELECT b.ctid AS spot FROM ratchet.blocked b WHERE b.cause = 'key:' || f.key
        ORDER BY b.sort_key, b.due, b.job LIMIT f.n FOR UPDATE SKIP LOCKED
    ) b
),
moved AS (DELETE FROM ratchet.blocked WHERE ctid = ANY (ARRAY(SELECT spot FROM next)) RETURNING *),
put AS (
    INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges)
    SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges FROM moved
    RETURNING queue
)
SELECT queue FROM freed UNION SELECT queue FROM put
