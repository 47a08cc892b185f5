-- No rows. Sets aside the given jobs that are waiting, except steps that wait for other steps: a claim finds those when
-- they are released.
WITH moved AS (DELETE FROM ratchet.ready WHERE job = ANY($1::uuid[]) AND version > 0 RETURNING *),
-- A job that was never moved is at the position of its submit.
fresh AS (
    DELETE FROM ratchet.ready r USING ratchet.job j
    WHERE j.id = ANY($1::uuid[]) AND r.queue = j.queue AND r.sort_key = ratchet.sort_key(j.due, j.head) AND r.due = j.due AND r.job = j.id
        AND r.version = 0
    RETURNING r.*
),
later AS (
    DELETE FROM ratchet.scheduled WHERE job = ANY($1::uuid[])
    RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges
),
aside AS (
    DELETE FROM ratchet.blocked WHERE job = ANY($1::uuid[]) AND cause NOT IN ('parent', 'unreadable')
    RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue,
        name, ckey, service, judges
)
INSERT INTO ratchet.blocked (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
    queue, name, ckey, service, judges, cause)
SELECT x.*, 'unreadable' FROM (
    SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name,
        ckey, service, judges
    FROM (SELECT * FROM moved UNION ALL SELECT * FROM fresh) r
    UNION ALL SELECT * FROM later UNION ALL SELECT * FROM aside
) x
