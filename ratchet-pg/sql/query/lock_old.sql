-- The jobs of a state that may be purged, oldest first, with the leases of their last runs. Locks their outcomes. A job
-- that ended before that instant was also submitted before it, so younger ids are not scanned.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now)
SELECT o.job, o.lease
FROM clock CROSS JOIN LATERAL (
    SELECT o.job, o.lease FROM ratchet.outcome o
    WHERE o.state = $1 AND o.at <= clock.now - $2 AND o.job < ratchet.id_at(clock.now - $2 + 60000000)
        AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
        AND NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = o.job)
        -- `OFFSET 0` forces one lookup per job.
        AND NOT EXISTS (
            SELECT FROM ratchet.member m JOIN ratchet.job_group g ON g.id = m.grp
            WHERE m.job = o.job AND g.finished_at IS NULL OFFSET 0
        )
        -- In a sequence, a job holds up the next one if its own turn has not come or an edge from it has not fired.
        AND NOT EXISTS (
            SELECT FROM ratchet.member m JOIN ratchet.graph s ON s.id = m.graph AND s.last IS NOT NULL
            WHERE m.job = o.job AND (
                m.wait LIKE '%"fired":0%'
                OR EXISTS (SELECT FROM ratchet.edge e WHERE e.parent = m.job AND e.resolution IS NULL)
            ) OFFSET 0
        )
    ORDER BY o.job LIMIT $3 FOR UPDATE OF o SKIP LOCKED
) o
