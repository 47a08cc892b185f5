-- No rows. Returns jobs of a queue that has no rate per key any more to `ready`.
WITH lanes AS MATERIALIZED (
    SELECT l.cause FROM ratchet.key_lane l WHERE l.queue = $1 ORDER BY l.key LIMIT 1000
),
first AS MATERIALIZED (
    SELECT b.row_id
    FROM lanes l CROSS JOIN LATERAL (
        SELECT b.ctid AS row_id FROM ratchet.blocked b
        WHERE b.cause = l.cause AND NOT EXISTS (SELECT FROM ratchet.expiry e WHERE e.job = b.job AND e.at <= $2)
        ORDER BY b.sort_key, b.due, b.job LIMIT $3 FOR UPDATE SKIP LOCKED
    ) b
    LIMIT $3
),
moved AS (DELETE FROM ratchet.blocked WHERE ctid = ANY (ARRAY(SELECT row_id FROM first)) RETURNING *)
INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit,
    keyed, queue, name, ckey, service, judges, tenant)
SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name,
    ckey, service, judges, (SELECT j.tenant FROM ratchet.job j WHERE j.id = moved.job)
FROM moved
