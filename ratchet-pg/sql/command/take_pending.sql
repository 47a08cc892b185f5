-- The job if it is waiting. Deletes it from the tables of waiting jobs.
WITH moved AS (DELETE FROM ratchet.ready WHERE job = $1 AND version > 0 RETURNING *),
-- A job that was never moved is at the position of its submit.
fresh AS (
    DELETE FROM ratchet.ready r USING ratchet.job j
    WHERE j.id = $1 AND r.queue = j.queue AND r.sort_key = ratchet.sort_key(j.due, j.head) AND r.due = j.due AND r.job = j.id
        AND r.version = 0
    RETURNING r.*
),
later AS (
    DELETE FROM ratchet.scheduled WHERE job = $1
    RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges
),
aside AS (DELETE FROM ratchet.blocked WHERE job = $1 RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges)
SELECT w.*, (SELECT j.tenant FROM ratchet.job j WHERE j.id = w.job) AS tenant FROM (
    SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey,
        service, judges
    FROM (SELECT * FROM moved UNION ALL SELECT * FROM fresh) r
    UNION ALL SELECT * FROM later UNION ALL SELECT * FROM aside
) w
