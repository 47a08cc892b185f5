-- Frees business keys. No earlier run of these jobs lingers.
released AS (
    DELETE FROM ratchet.business b USING gone g, done d
    WHERE g.keyed AND d.lease = g.id AND b.job = d.job
),
-- Frees the slots of runs with a key.
freed AS (
    DELETE FROM ratchet.slot s USING gone g, done d
    WHERE g.keyed AND d.lease = g.id AND s.job = d.job AND s.lease = d.lease
    RETURNING s.queue, s.key, s.probe
),
