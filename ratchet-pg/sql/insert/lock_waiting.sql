-- One row, locked, if the job waits or is paused. A claim skips it until the transaction ends.
WITH moved AS MATERIALIZED (SELECT r.job FROM ratchet.ready r WHERE r.job = $1 AND r.version > 0 FOR UPDATE),
-- A job that was never moved is at the position of its submit.
fresh AS MATERIALIZED (
    SELECT r.job FROM ratchet.job j JOIN ratchet.ready r
        ON r.queue = j.queue AND r.sort_key = ratchet.sort_key(j.due, j.head) AND r.due = j.due AND r.job = j.id
            AND r.version = 0
    WHERE j.id = $1 FOR UPDATE OF r
),
later AS MATERIALIZED (SELECT s.job FROM ratchet.scheduled s WHERE s.job = $1 FOR UPDATE),
aside AS MATERIALIZED (SELECT b.job FROM ratchet.blocked b WHERE b.job = $1 FOR UPDATE),
paused AS MATERIALIZED (SELECT p.job FROM ratchet.paused p WHERE p.job = $1 FOR UPDATE)
SELECT job FROM moved UNION ALL SELECT job FROM fresh UNION ALL SELECT job FROM later UNION ALL SELECT job FROM aside
UNION ALL SELECT job FROM paused
