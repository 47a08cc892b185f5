-- The names of waiting jobs that no live node knows in their version, with their number and the time at which the oldest
-- was submitted. If more than 10,000 jobs of a kind wait, it is the oldest of 10,000 of them.
WITH waiting AS NOT MATERIALIZED (
    SELECT name, job_version, job FROM ratchet.ready
    UNION ALL SELECT name, job_version, job FROM ratchet.scheduled
    UNION ALL SELECT name, job_version, job FROM ratchet.blocked
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
            SELECT w.job FROM waiting w WHERE w.name = u.name AND w.job_version = u.job_version LIMIT 10000
        ) w
    )) AS oldest
FROM unknown u
GROUP BY u.name ORDER BY u.name COLLATE "C"
