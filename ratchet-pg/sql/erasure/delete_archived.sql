-- One row: how many of these archived jobs were deleted.
WITH marks AS (DELETE FROM ratchet_archive.moved WHERE job = ANY($1::uuid[])),
ended AS (DELETE FROM ratchet_archive.outcome WHERE job = ANY($1::uuid[]) RETURNING job, state, tableoid AS part),
removed AS (DELETE FROM ratchet_archive.job WHERE id = ANY($1::uuid[]) RETURNING id, queue),
attempts AS (DELETE FROM ratchet_archive.attempt WHERE job = ANY($1::uuid[])),
notes AS (DELETE FROM ratchet_archive.note WHERE job = ANY($1::uuid[])),
logs AS (DELETE FROM ratchet_archive.log WHERE job = ANY($1::uuid[])),
tallied AS (
    INSERT INTO ratchet_archive.tally (queue, state, part, change)
    SELECT r.queue, e.state, e.part, -count(*) FROM removed r JOIN ended e ON e.job = r.id GROUP BY r.queue, e.state, e.part
)
SELECT count(*) FROM removed
