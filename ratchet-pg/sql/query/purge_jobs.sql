-- One row: how many jobs were removed, the oldest of a state first, with everything that belongs to them.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
-- The jobs that go. What ended before that instant was submitted before it, so nothing younger is looked at.
old AS MATERIALIZED (
    SELECT o.job, o.lease
    FROM clock CROSS JOIN LATERAL (
        SELECT o.job, o.lease FROM ratchet.outcome o
        WHERE o.state = $1 AND o.at <= clock.now - $2 AND o.job < ratchet.id_at(clock.now - $2 + 60000000)
            AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
            AND NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = o.job)
        ORDER BY o.job LIMIT $3 FOR UPDATE OF o SKIP LOCKED
    ) o
),
ended AS (DELETE FROM ratchet.outcome WHERE job = ANY (ARRAY(SELECT job FROM old)) RETURNING job, tableoid AS part),
removed AS (DELETE FROM ratchet.job WHERE id = ANY (ARRAY(SELECT job FROM old)) RETURNING id, queue),
attempts AS (DELETE FROM ratchet.attempt WHERE job = ANY (ARRAY(SELECT job FROM old))),
notes AS (DELETE FROM ratchet.note WHERE job = ANY (ARRAY(SELECT job FROM old))),
logs AS (DELETE FROM ratchet.log WHERE job = ANY (ARRAY(SELECT job FROM old))),
-- Without an outcome, a member of a lease that still stands would seem to be there.
left_leases AS (
    UPDATE ratchet.lease l
    SET versions = ARRAY(
        SELECT CASE WHEN m.job IN (SELECT job FROM old) THEN 0 ELSE COALESCE(m.version, 1) END
        FROM unnest(l.jobs, l.versions) WITH ORDINALITY AS m(job, version, place) ORDER BY m.place
    )
    WHERE l.id = ANY (ARRAY(SELECT lease FROM old))
),
tallied AS (
    INSERT INTO ratchet.tally (queue, state, part, change)
    SELECT r.queue, $1, e.part, -count(*) FROM removed r JOIN ended e ON e.job = r.id GROUP BY r.queue, e.part
)
SELECT count(*) FROM removed
