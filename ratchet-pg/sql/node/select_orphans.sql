-- Claimed jobs of nodes whose lease expired. Reads the leases first, then looks up outcomes job by job: there may be
-- millions of outcomes, and usually there is no such lease.
WITH lost AS MATERIALIZED (
    SELECT l.* FROM ratchet.lease l
    WHERE l.remaining > 0 AND NOT EXISTS (SELECT FROM ratchet.node n WHERE n.id = l.node AND n.until > $1)
)
SELECT l.at AS now, l.started, l.node, l.id AS lease, m.job, m.due, COALESCE(m.version, 1) AS version, COALESCE(m.run, 1) AS run,
    COALESCE(m.attempts, 0) AS attempts, COALESCE(m.crashes, 0) AS crashes, COALESCE(m.deferrals, 0) AS deferrals,
    COALESCE(m.generation, 1) AS generation,
    j.queued_at, j.queue, j.name, j.version AS job_version, j.priority, j.payload, j.business_key, j.idempotency_key,
    j.ckey, j.climit, j.service, j.tags::text AS tags, j.tenant, j.correlation_id, j.extra, j.trace,
    n.percent, n.message, n.checkpoint
FROM lost l CROSS JOIN LATERAL unnest(l.jobs, l.versions, l.dues, l.runs, l.attempts, l.crashes, l.deferrals, l.generations)
        AS m(job, version, due, run, attempts, crashes, deferrals, generation)
LEFT JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = m.job OFFSET 0) j ON true
LEFT JOIN LATERAL (SELECT * FROM ratchet.note n WHERE n.job = m.job OFFSET 0) n ON true
WHERE m.version IS DISTINCT FROM 0 AND NOT EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = m.job OFFSET 0)
ORDER BY l.node, m.job
LIMIT $2
