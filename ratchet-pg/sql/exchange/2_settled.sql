    RETURNING job, lease, tableoid AS part
),
-- The number of members that left each lease, by the partition of their outcomes.
counted AS MATERIALIZED (SELECT lease, part, count(*) AS n FROM done GROUP BY lease, part),
gone AS MATERIALIZED (
    SELECT l.id, l.keyed, l.remaining - c.n AS remaining
    FROM (SELECT lease, sum(n)::integer AS n FROM counted GROUP BY lease) c JOIN locked l ON l.id = c.lease
),
lowered AS (UPDATE ratchet.lease l SET remaining = g.remaining FROM gone g WHERE l.id = g.id AND g.remaining > 0),
emptied AS (DELETE FROM ratchet.lease l USING gone g WHERE l.id = g.id AND g.remaining <= 0 RETURNING l.id),
tallied AS (
    INSERT INTO ratchet.tally (queue, state, part, change)
    SELECT l.queue, 2, c.part, sum(c.n) FROM counted c JOIN locked l ON l.id = c.lease GROUP BY l.queue, c.part
),
