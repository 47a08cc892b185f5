-- No rows. Merges the changes into one row per queue, state and partition. Skipped while a partition is being dropped,
-- because that removes its rows. Rows of partitions that no longer exist are discarded.
WITH mine AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(hashtextextended(__HOME__ || ' parts', 0)) AS locked),
old AS (
    DELETE FROM ratchet.tally WHERE (SELECT locked FROM mine) RETURNING queue, state, part, change
)
INSERT INTO ratchet.tally (queue, state, part, change)
SELECT o.queue, o.state, o.part, sum(o.change) FROM old o
WHERE EXISTS (SELECT FROM pg_class c WHERE c.oid = o.part)
GROUP BY o.queue, o.state, o.part HAVING sum(o.change) <> 0
