-- One row: the number of freed slots that no run held, and their queues. Neither a member of a lease nor a lingering
-- run has their token. Locked slots are skipped, because another transaction is freeing them.
WITH odd AS MATERIALIZED (
    SELECT s.job, s.lease, s.version, s.key, s.probe FROM ratchet.slot s
    WHERE NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = s.job AND x.lease = s.lease AND x.version = s.version)
        AND NOT EXISTS (
            SELECT FROM ratchet.lease l
            CROSS JOIN LATERAL unnest(l.jobs, l.versions) AS m(job, version)
            WHERE l.id = s.lease AND l.remaining > 0 AND m.job = s.job AND COALESCE(m.version, 1) = s.version
                AND NOT EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = s.job OFFSET 0)
        )
    ORDER BY s.job, s.lease, s.version, s.key LIMIT $1 FOR UPDATE OF s SKIP LOCKED
),
gone AS (
    DELETE FROM ratchet.slot s USING odd o
    WHERE s.job = o.job AND s.lease = o.lease AND s.version = o.version AND s.key = o.key AND s.probe = o.probe
    RETURNING s.queue
)
SELECT count(*) AS n, array_agg(DISTINCT queue) AS queues FROM gone
