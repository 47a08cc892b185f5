-- The claimed jobs of each queue, in order. All are first runs of plain jobs, which are returned completely.
line AS MATERIALIZED (
    SELECT a.place, a.lease, a.queue, a.now, g.*
    FROM asked a CROSS JOIN LATERAL (
        SELECT count(*) AS n, array_agg(p.job) AS jobs, array_agg(p.due) AS dues, array_agg(p.sort_key) AS sort_keys,
            array_agg(p.name) AS names, array_agg(p.job_version) AS job_versions, array_agg(p.service) AS services,
            array_agg(p.payload) AS payloads
        FROM picked p WHERE p.place = a.place AND (SELECT clear FROM road)
    ) g
    WHERE g.n > 0
),
-- One lease per queue, with its members in the order of the line.
leased AS (
    INSERT INTO ratchet.lease (id, node, at, remaining, started, keyed, queue, jobs, dues)
    SELECT l.lease, $5, l.now, l.n, $9, false, l.queue, l.jobs, l.dues FROM line l
)
