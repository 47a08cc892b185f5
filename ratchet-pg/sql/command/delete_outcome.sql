-- The deleted outcome of a failed job, with its last run, which is then added to the history.
WITH undone AS (
    DELETE FROM ratchet.outcome o
    WHERE o.job = $1 AND o.state = 3 AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
    RETURNING o.*, o.tableoid AS part
),
tallied AS (INSERT INTO ratchet.tally (queue, state, part, change) SELECT $2, 3, part, -1 FROM undone)
SELECT at, due, version, run, node, started_at, duration, generation, attempt, result, envelope FROM undone
