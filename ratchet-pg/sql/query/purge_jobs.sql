-- One row: how many jobs were removed, the oldest of a state, with everything that belongs to them.
WITH old AS MATERIALIZED (
    SELECT o.job, o.lease FROM ratchet.outcome o
    WHERE o.state = $1 AND o.at <= ratchet.now_micros() - $2
        AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
        AND NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = o.job)
    ORDER BY o.at, o.job LIMIT $3 FOR UPDATE OF o SKIP LOCKED
),
ended AS (DELETE FROM ratchet.outcome o USING old WHERE o.job = old.job),
removed AS (DELETE FROM ratchet.job j USING old WHERE j.id = old.job RETURNING j.queue),
attempts AS (DELETE FROM ratchet.attempt a USING old WHERE a.job = old.job),
notes AS (DELETE FROM ratchet.note n USING old WHERE n.job = old.job),
logs AS (DELETE FROM ratchet.log l USING old WHERE l.job = old.job),
-- Without an outcome, a member of a lease that still stands would seem to be there.
left_leases AS (
    UPDATE ratchet.lease l
    SET versions = ARRAY(
        SELECT CASE WHEN m.job IN (SELECT job FROM old) THEN 0 ELSE m.version END
        FROM unnest(l.jobs, l.versions) WITH ORDINALITY AS m(job, version, place) ORDER BY m.place
    )
    WHERE l.id IN (SELECT lease FROM old)
),
tallied AS (
    INSERT INTO ratchet.tally (queue, state, change) SELECT queue, $1, -count(*) FROM removed GROUP BY queue
)
SELECT count(*) FROM removed
