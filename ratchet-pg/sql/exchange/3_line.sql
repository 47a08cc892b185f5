-- The claimed jobs of each queue, in order. Plain jobs are returned completely.
line AS MATERIALIZED (
    SELECT a.place, a.lease, a.queue, a.now, g.*, c.*
    FROM asked a CROSS JOIN LATERAL (
        SELECT count(*) AS n, bool_or(p.keyed) AS keyed, bool_or(p.version > 0) AS moved,
            bool_or(p.payload IS NOT NULL) AS carried, array_agg(p.job) AS jobs, array_agg(p.due) AS dues
        FROM picked p WHERE p.place = a.place AND (SELECT clear FROM road)
    ) g CROSS JOIN LATERAL (
        SELECT array_agg(p.sort_key) AS sort_keys, array_agg(p.name) AS names, array_agg(p.job_version) AS job_versions,
            array_agg(p.service) AS services, array_agg(p.payload) AS payloads
        FROM picked p WHERE p.place = a.place AND g.carried
    ) c
    WHERE g.n > 0
),
-- One lease per queue, with its members in the order of the line. If all members are first runs, their common values
-- are omitted.
leased AS (
    INSERT INTO ratchet.lease (id, node, at, remaining, started, keyed, queue, jobs, dues, versions, runs, attempts,
        crashes, deferrals, generations)
    SELECT l.lease, $5, l.now, l.n, $9, l.keyed, l.queue, l.jobs, l.dues, m.versions, m.runs, m.attempts,
        m.crashes, m.deferrals, m.generations
    FROM line l CROSS JOIN LATERAL (
        SELECT array_agg(p.version + 1) AS versions, array_agg(p.run + 1) AS runs, array_agg(p.attempts) AS attempts,
            array_agg(p.crashes) AS crashes, array_agg(p.deferrals) AS deferrals, array_agg(p.generation) AS generations
        FROM picked p WHERE p.place = l.place AND l.moved
    ) m
)
