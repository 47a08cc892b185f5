-- The given jobs that wait for a worker or for other steps, are set aside, or are paused. Deletes them from those
-- tables.
WITH asked AS MATERIALIZED (
    SELECT j.id, j.queue, ratchet.sort_key(j.due, j.head) AS sort_key, j.due
    FROM unnest($1::uuid[]) AS x(id) CROSS JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = x.id OFFSET 0) j
),
moved AS (DELETE FROM ratchet.ready WHERE job = ANY($1) AND version > 0 RETURNING *),
-- A job that was never moved is at the position of its submit.
fresh AS (
    DELETE FROM ratchet.ready r USING asked a
    WHERE r.queue = a.queue AND r.sort_key = a.sort_key AND r.due = a.due AND r.job = a.id AND r.version = 0
    RETURNING r.*
),
later AS (
    DELETE FROM ratchet.scheduled WHERE job = ANY($1)
    RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges
),
aside AS (
    DELETE FROM ratchet.blocked WHERE job = ANY($1)
    RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges
),
paused AS (
    DELETE FROM ratchet.paused WHERE job = ANY($1) AND NOT failed
    RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
        queue, name, ckey, service, judges
)
SELECT w.*, (SELECT j.tenant FROM ratchet.job j WHERE j.id = w.job) AS tenant FROM (
    SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey,
        service, judges
    FROM (SELECT * FROM moved UNION ALL SELECT * FROM fresh) r
    UNION ALL SELECT * FROM later UNION ALL SELECT * FROM aside UNION ALL SELECT * FROM paused
) w
