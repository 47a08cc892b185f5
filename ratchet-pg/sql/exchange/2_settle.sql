-- The outcomes. Each job is given at the position of its run in the lease, so no search is needed. If a job already has
-- an outcome, the statement fails and the slow path decides.
done AS (
    INSERT INTO ratchet.outcome (job, at, due, version, run, lease, node, started_at, duration, attempts, crashes,
        deferrals, generation, attempt, state, result, output)
    SELECT m.job, clock.now, m.due, COALESCE(m.version, 1) + 1, COALESCE(m.run, 1), l.id, l.node, l.at, m.duration,
        COALESCE(m.attempts, 0), COALESCE(m.crashes, 0), COALESCE(m.deferrals, 0), COALESCE(m.generation, 1),
        COALESCE(m.attempts, 0) + 1, 2, 0, m.output
    FROM clock CROSS JOIN unnest($12::uuid[], $13::integer[], $14::integer[]) AS s(lease, low, high)
    JOIN locked l ON l.id = s.lease
    CROSS JOIN LATERAL unnest(l.jobs, l.versions, l.dues, l.runs, l.attempts, l.crashes, l.deferrals, l.generations,
            ($15::uuid[])[s.low:s.high], ($16::bigint[])[s.low:s.high], ($17::text[])[s.low:s.high])
        AS m(job, version, due, run, attempts, crashes, deferrals, generation, asked, duration, output)
    WHERE m.asked = m.job AND m.version IS DISTINCT FROM 0
