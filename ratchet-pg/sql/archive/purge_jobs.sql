-- One row: how many archived jobs of a state were deleted, of those that were moved one by one this long ago, oldest first.
WITH old AS MATERIALIZED (
    SELECT m.job FROM ratchet_archive.moved m
    WHERE m.state = $1 AND m.at <= (SELECT ratchet.now_micros()) - $2 ORDER BY m.at, m.job LIMIT $3 FOR UPDATE SKIP LOCKED
),
marks AS (DELETE FROM ratchet_archive.moved WHERE job = ANY (ARRAY(SELECT job FROM old))),
ended AS (DELETE FROM ratchet_archive.outcome WHERE job = ANY (ARRAY(SELECT job FROM old)) RETURNING job, tableoid AS part),
removed AS (DELETE FROM ratchet_archive.job WHERE id = ANY (ARRAY(SELECT job FROM old)) RETURNING id, queue),
attempts AS (DELETE FROM ratchet_archive.attempt WHERE job = ANY (ARRAY(SELECT job FROM old))),
notes AS (DELETE FROM ratchet_archive.note WHERE job = ANY (ARRAY(SELECT job FROM old))),
logs AS (DELETE FROM ratchet_archive.log WHERE job = ANY (ARRAY(SELECT job FROM old))),
tallied AS (
    INSERT INTO ratchet_archive.tally (queue, state, part, change)
    SELECT r.queue, $1, e.part, -count(*) FROM removed r JOIN ended e ON e.job = r.id GROUP BY r.queue, e.part
)
SELECT count(*) FROM removed
