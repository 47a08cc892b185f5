members AS (DELETE FROM ratchet.member WHERE job = ANY (ARRAY(SELECT job FROM old)) RETURNING graph),
edges AS (DELETE FROM ratchet.edge WHERE parent = ANY (ARRAY(SELECT job FROM old))),
rejects AS (DELETE FROM ratchet.reject WHERE job = ANY (ARRAY(SELECT job FROM old))),
successors AS (DELETE FROM ratchet.successor WHERE original = ANY (ARRAY(SELECT job FROM old))),
-- Without an outcome, a member of a remaining lease would seem to be running.
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
