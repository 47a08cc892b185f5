-- The settlements that were applied: their place in the batch, the clock, and what is left of their lease.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
asked AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::text[]) WITH ORDINALITY
        AS a(lease, job, version, duration, output, place)
),
-- The leases, locked in one order. Whoever takes a member away without an outcome rewrites this row, so a settle that
-- had to wait for the lock sees it.
locked AS MATERIALIZED (SELECT * FROM ratchet.lease WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE),
member AS MATERIALIZED (
    SELECT l.id AS lease, l.node, l.at AS started_at, m.*
    FROM locked l CROSS JOIN LATERAL unnest(l.jobs, l.versions, l.dues, l.runs, l.attempts, l.crashes, l.deferrals, l.generations)
        AS m(job, version, due, run, attempts, crashes, deferrals, generation)
),
-- The outcomes; a job that has one already is left alone.
done AS (
    INSERT INTO ratchet.outcome (job, at, due, version, run, lease, node, started_at, duration, attempts, crashes,
        deferrals, generation, attempt, state, result, output)
    SELECT m.job, clock.now, m.due, m.version + 1, m.run, m.lease, m.node, m.started_at, a.duration, m.attempts,
        m.crashes, m.deferrals, m.generation, m.attempts + 1, 2, 0, a.output
    FROM asked a JOIN member m USING (lease, job, version) CROSS JOIN clock
    ON CONFLICT (job) DO NOTHING
    RETURNING job, lease
),
-- How many members left each lease.
gone AS MATERIALIZED (
    SELECT l.id, l.queue, l.keyed, count(*) AS n
    FROM done d JOIN locked l ON l.id = d.lease GROUP BY l.id, l.queue, l.keyed
),
lowered AS (
    UPDATE ratchet.lease l SET remaining = l.remaining - g.n FROM gone g WHERE l.id = g.id
    RETURNING l.id, l.remaining
),
tallied AS (INSERT INTO ratchet.tally (queue, state, change) SELECT queue, 2, sum(n) FROM gone GROUP BY queue),
-- Leases that an earlier settle found empty.
swept AS (DELETE FROM ratchet.lease WHERE id = ANY($6::uuid[]) AND remaining <= 0),
-- Slots of runs with a key.
freed AS (
    DELETE FROM ratchet.slot s USING done d, gone g
    WHERE g.keyed AND d.lease = g.id AND s.job = d.job AND s.lease = d.lease
    RETURNING s.queue
),
-- Business keys, unless an earlier run of the job still lingers.
released AS (
    DELETE FROM ratchet.business b USING done d, gone g
    WHERE g.keyed AND d.lease = g.id AND b.job = d.job
        AND NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = d.job)
)
SELECT a.place, clock.now, l.id AS lease, l.remaining, (SELECT array_agg(DISTINCT queue) FROM freed) AS queues
FROM clock CROSS JOIN done d JOIN asked a ON a.job = d.job LEFT JOIN lowered l ON l.id = d.lease
