-- One row: how many jobs were removed, the oldest of a state first, with everything that belongs to them, and their graphs.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
-- The jobs that go. What ended before that instant was submitted before it, so nothing younger is looked at.
old AS MATERIALIZED (
    SELECT o.job, o.lease
    FROM clock CROSS JOIN LATERAL (
        SELECT o.job, o.lease FROM ratchet.outcome o
        WHERE o.state = $1 AND o.at <= clock.now - $2 AND o.job < ratchet.id_at(clock.now - $2 + 60000000)
            AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
            AND NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = o.job)
            -- Looked up job by job.
            AND NOT EXISTS (
                SELECT FROM ratchet.member m JOIN ratchet.job_group g ON g.id = m.grp
                WHERE m.job = o.job AND g.finished_at IS NULL OFFSET 0
            )
        ORDER BY o.job LIMIT $3 FOR UPDATE OF o SKIP LOCKED
    ) o
),
ended AS (DELETE FROM ratchet.outcome WHERE job = ANY (ARRAY(SELECT job FROM old)) RETURNING job, tableoid AS part),
removed AS (DELETE FROM ratchet.job WHERE id = ANY (ARRAY(SELECT job FROM old)) RETURNING id, queue),
attempts AS (DELETE FROM ratchet.attempt WHERE job = ANY (ARRAY(SELECT job FROM old))),
notes AS (DELETE FROM ratchet.note WHERE job = ANY (ARRAY(SELECT job FROM old))),
logs AS (DELETE FROM ratchet.log WHERE job = ANY (ARRAY(SELECT job FROM old))),
members AS (DELETE FROM ratchet.member WHERE job = ANY (ARRAY(SELECT job FROM old)) RETURNING graph),
edges AS (DELETE FROM ratchet.edge WHERE parent = ANY (ARRAY(SELECT job FROM old))),
rejects AS (DELETE FROM ratchet.reject WHERE job = ANY (ARRAY(SELECT job FROM old))),
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
SELECT (SELECT count(*) FROM removed) AS n, ARRAY(SELECT DISTINCT graph FROM members) AS graphs
