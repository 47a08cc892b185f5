-- The given members of these leases that have not left, with their narrow rows.
WITH member AS MATERIALIZED (
    SELECT l.id AS lease, l.node, l.at AS started_at, l.queue, l.keyed AS held, m.job, m.due, COALESCE(m.version, 1) AS version, COALESCE(m.run, 1) AS run,
        COALESCE(m.attempts, 0) AS attempts, COALESCE(m.crashes, 0) AS crashes, COALESCE(m.deferrals, 0) AS deferrals,
        COALESCE(m.generation, 1) AS generation
    FROM unnest($1::uuid[]) AS x(lease) JOIN ratchet.lease l ON l.id = x.lease
    CROSS JOIN LATERAL unnest(l.jobs, l.versions, l.dues, l.runs, l.attempts, l.crashes, l.deferrals, l.generations)
        AS m(job, version, due, run, attempts, crashes, deferrals, generation)
    WHERE m.version IS DISTINCT FROM 0 AND m.job = ANY($2::uuid[])
)
SELECT m.*, COALESCE(ratchet.sort_key(m.due, j.head), 0) AS sort_key, j.name, j.version AS job_version, j.head, j.ckey, j.climit, j.service, j.tenant,
    j.business_key IS NOT NULL OR j.ckey IS NOT NULL AS keyed, g.job IS NOT NULL AS step, g.grp, g.linked, g.first_match, g.judges
FROM member m
CROSS JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = m.job OFFSET 0) j
-- A step always has a value in `extra`. The condition avoids lookups for other jobs.
LEFT JOIN LATERAL (SELECT * FROM ratchet.member g WHERE g.job = j.id AND j.extra IS NOT NULL OFFSET 0) g ON true
LEFT JOIN LATERAL (SELECT o.job FROM ratchet.outcome o WHERE o.job = m.job OFFSET 0) o ON true
WHERE o.job IS NULL
