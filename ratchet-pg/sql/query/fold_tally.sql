-- No rows: the changes so far in one row per queue and state.
WITH old AS (DELETE FROM ratchet.tally RETURNING queue, state, change)
INSERT INTO ratchet.tally (queue, state, change)
SELECT queue, state, sum(change) FROM old GROUP BY queue, state HAVING sum(change) <> 0
