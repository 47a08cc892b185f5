-- The names of waiting jobs that no live node knows in their version, with their number.
SELECT w.name, sum(w.n)::bigint AS n
FROM (
    SELECT name, job_version, count(*) AS n
    FROM (
        SELECT name, job_version FROM ratchet.ready
        UNION ALL SELECT name, job_version FROM ratchet.scheduled
        UNION ALL SELECT name, job_version FROM ratchet.blocked
    ) x
    GROUP BY name, job_version
) w
WHERE NOT EXISTS (
    SELECT FROM ratchet.node n
    WHERE n.until > ratchet.now_micros() AND w.job_version <= n.versions[array_position(n.names, w.name)]
)
GROUP BY w.name ORDER BY w.name COLLATE "C"
