-- One row: how many of these jobs were removed with all rows that belong to them, and their graphs. Their outcomes are
-- locked, and so are their graphs and leases, except those given here, which are skipped. Conditions that were checked
-- before the locks are checked again.
WITH old AS MATERIALIZED (
    SELECT o.job, o.lease
    FROM unnest($2::uuid[]) AS x(job)
    CROSS JOIN LATERAL (SELECT o.job, o.lease, o.state FROM ratchet.outcome o WHERE o.job = x.job OFFSET 0) o
    WHERE o.state = $1 AND (o.lease IS NULL OR o.lease <> ALL ($4::uuid[]))
        AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
        AND NOT EXISTS (SELECT FROM ratchet.lingering l WHERE l.job = o.job)
        -- `OFFSET 0` forces one lookup per job.
        AND NOT EXISTS (
            SELECT FROM ratchet.member m LEFT JOIN ratchet.job_group g ON g.id = m.grp
            WHERE m.job = o.job AND (m.graph = ANY ($3::uuid[]) OR (g.id IS NOT NULL AND g.finished_at IS NULL)) OFFSET 0
        )
        -- In a sequence, a job holds up the next one if its own turn has not come or an edge from it has not fired.
        AND NOT EXISTS (
            SELECT FROM ratchet.member m JOIN ratchet.graph s ON s.id = m.graph AND s.last IS NOT NULL
            WHERE m.job = o.job AND (
                m.wait LIKE '%"fired":0%'
                OR EXISTS (SELECT FROM ratchet.edge e WHERE e.parent = m.job AND e.resolution IS NULL)
            ) OFFSET 0
        )
),
