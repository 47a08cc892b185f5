-- When the first and the last archived job of each state were archived. A range that was moved as a whole has only succeeded
-- jobs that were not moved one by one. All of them can be gone, and then its time is that of no job.
SELECT state, min(at) AS oldest, max(at) AS newest
FROM (
    SELECT ended.state, m.at
    FROM (VALUES (2::smallint), (3::smallint), (5::smallint)) AS ended (state)
    CROSS JOIN LATERAL (
        (SELECT m.at FROM ratchet_archive.moved m WHERE m.state = ended.state ORDER BY m.at LIMIT 1)
        UNION ALL
        (SELECT m.at FROM ratchet_archive.moved m WHERE m.state = ended.state ORDER BY m.at DESC LIMIT 1)
    ) m
    UNION ALL
    SELECT 2::smallint, p.at FROM ratchet_archive.part p
    -- `OFFSET 0` forces one lookup per range, and one per job of it until the first that was not moved by itself.
    WHERE p.at IS NOT NULL AND EXISTS (
        SELECT FROM ratchet_archive.job j
        WHERE j.id >= ratchet.id_at(p.starts) AND j.id < ratchet.id_at(p.ends)
            AND NOT EXISTS (SELECT FROM ratchet_archive.moved m WHERE m.job = j.id OFFSET 0)
        OFFSET 0
    )
) archived
GROUP BY state
