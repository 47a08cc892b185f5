-- No rows: the changes so far in one row per queue, state and table.
WITH old AS (DELETE FROM ratchet.tally RETURNING queue, state, part, change)
INSERT INTO ratchet.tally (queue, state, part, change)
SELECT queue, state, part, sum(change) FROM old GROUP BY queue, state, part HAVING sum(change) <> 0
