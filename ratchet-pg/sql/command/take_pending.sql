-- The job if it waits: it no longer does.
WITH moved AS (DELETE FROM ratchet.ready WHERE job = $1 AND version > 0 RETURNING *),
-- One that has not moved stands where its submit has put it.
fresh AS (
    DELETE FROM ratchet.ready r USING ratchet.job j
    WHERE j.id = $1 AND r.queue = j.queue AND r.sort_key = j.due - j.head AND r.due = j.due AND r.job = j.id
        AND r.version = 0
    RETURNING r.*
),
later AS (DELETE FROM ratchet.scheduled WHERE job = $1 RETURNING *)
SELECT * FROM moved UNION ALL SELECT * FROM fresh UNION ALL SELECT * FROM later
