-- No rows. Moves due jobs from `scheduled` to `ready`, where they need their tenants.
WITH due AS MATERIALIZED (
    SELECT s.ctid
    FROM unnest($1::text[]) AS q(queue) CROSS JOIN LATERAL (
        SELECT s.ctid FROM ratchet.scheduled s
        WHERE s.queue = q.queue AND s.due <= $2
        ORDER BY s.due, s.job LIMIT $3 FOR UPDATE SKIP LOCKED
    ) s
),
moved AS (DELETE FROM ratchet.scheduled WHERE ctid = ANY (ARRAY(SELECT ctid FROM due)) RETURNING *)
INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges, tenant)
SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges,
    (SELECT j.tenant FROM ratchet.job j WHERE j.id = moved.job)
FROM moved
