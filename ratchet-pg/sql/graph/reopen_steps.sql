-- The canceled steps that wait again.
WITH undone AS (
    DELETE FROM ratchet.outcome o WHERE o.job = ANY($1::uuid[]) AND o.state = 5 RETURNING o.*, o.tableoid AS part
),
back AS MATERIALIZED (
    SELECT u.*, j.queue, j.name, j.head, j.version AS job_version, j.climit, j.ckey, j.service,
        j.business_key IS NOT NULL OR j.ckey IS NOT NULL AS keyed, m.judges
    FROM undone u
    CROSS JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = u.job OFFSET 0) j
    CROSS JOIN LATERAL (SELECT m.judges FROM ratchet.member m WHERE m.job = u.job OFFSET 0) m
),
tallied AS (
    INSERT INTO ratchet.tally (queue, state, part, change) SELECT queue, 5, part, -count(*) FROM back GROUP BY queue, part
)
INSERT INTO ratchet.blocked (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges, cause)
SELECT job, due - head, due, version + 1, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
    queue, name, ckey, service, judges, 'parent'
FROM back
RETURNING job
