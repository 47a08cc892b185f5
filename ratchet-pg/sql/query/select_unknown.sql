-- The names of waiting jobs that no live node knows in their version, with their number and the time at which the oldest
-- was submitted. Looks at 100,000 jobs of each table, and for the oldest of a kind at 1,000.
WITH waiting AS NOT MATERIALIZED (
    (SELECT name, job_version, job FROM ratchet.ready LIMIT 100000)
    UNION ALL (SELECT name, job_version, job FROM ratchet.scheduled LIMIT 100000)
    UNION ALL (SELECT name, job_version, job FROM ratchet.blocked LIMIT 100000)
), unknown AS (
    SELECT w.name, w.job_version, w.n
    FROM (SELECT name, job_version, count(*) AS n FROM waiting GROUP BY name, job_version) w
    WHERE NOT EXISTS (
        SELECT FROM ratchet.node n
        WHERE n.until > ratchet.now_micros() AND w.job_version <= n.versions[array_position(n.names, w.name)]
    )
)
SELECT u.name, sum(u.n)::bigint AS n,
    min((
        SELECT min((SELECT j.queued_at FROM ratchet.job j WHERE j.id = w.job))
        FROM (
            SELECT w.job FROM waiting w WHERE w.name = u.name AND w.job_version = u.job_version LIMIT 1000
        ) w
    )) AS oldest
FROM unknown u
GROUP BY u.name ORDER BY u.name COLLATE "C"
