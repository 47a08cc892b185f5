-- One row: how many of these jobs were moved to the archive with their history, notes and logs, and their graphs. The
-- other rows that belong to them are deleted. Their outcomes are
-- locked, and so are their graphs and leases, except those given here, which are skipped. Conditions that were checked
-- before the locks are checked again.
WITH old AS MATERIALIZED (
    SELECT o.job, o.lease
    FROM unnest($2::uuid[]) AS x(job)
    CROSS JOIN LATERAL (SELECT o.job, o.lease, o.state FROM ratchet.outcome o WHERE o.job = x.job OFFSET 0) o
    WHERE o.state = $1 AND (o.lease IS NULL OR o.lease <> ALL ($4::uuid[]))
        AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
        AND NOT EXISTS (SELECT FROM ratchet.lingering l WHERE l.job = o.job)
        -- `OFFSET 0` forces one lookup per job.
        AND NOT EXISTS (
            SELECT FROM ratchet.member m LEFT JOIN ratchet.job_group g ON g.id = m.grp
            WHERE m.job = o.job AND (m.graph = ANY ($3::uuid[]) OR (g.id IS NOT NULL AND g.finished_at IS NULL)) OFFSET 0
        )
        -- In a sequence, a job holds up the next one if its own turn has not come or an edge from it has not fired.
        AND NOT EXISTS (
            SELECT FROM ratchet.member m JOIN ratchet.graph s ON s.id = m.graph AND s.last IS NOT NULL
            WHERE m.job = o.job AND (
                m.wait LIKE '%"fired":0%'
                OR EXISTS (SELECT FROM ratchet.edge e WHERE e.parent = m.job AND e.resolution IS NULL)
            ) OFFSET 0
        )
),
ended AS (DELETE FROM ratchet.outcome o WHERE o.job = ANY (ARRAY(SELECT job FROM old)) RETURNING o AS whole, o.job, o.tableoid AS part),
removed AS (DELETE FROM ratchet.job WHERE id = ANY (ARRAY(SELECT job FROM old)) RETURNING *),
attempts AS (DELETE FROM ratchet.attempt WHERE job = ANY (ARRAY(SELECT job FROM old)) RETURNING *),
notes AS (DELETE FROM ratchet.note WHERE job = ANY (ARRAY(SELECT job FROM old)) RETURNING *),
logs AS (DELETE FROM ratchet.log WHERE job = ANY (ARRAY(SELECT job FROM old)) RETURNING *),
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
archived_jobs AS (INSERT INTO ratchet_archive.job SELECT * FROM removed),
archived AS (
    INSERT INTO ratchet_archive.outcome SELECT (e.whole).* FROM ended e RETURNING job, tableoid AS part
),
archived_attempts AS (INSERT INTO ratchet_archive.attempt SELECT * FROM attempts),
archived_notes AS (INSERT INTO ratchet_archive.note SELECT * FROM notes),
archived_logs AS (INSERT INTO ratchet_archive.log SELECT * FROM logs),
marked AS (INSERT INTO ratchet_archive.moved (job, state, at) SELECT r.id, $1, ratchet.now_micros() FROM removed r),
archive_tallied AS (
    INSERT INTO ratchet_archive.tally (queue, state, part, change)
    SELECT r.queue, $1, a.part, count(*) FROM removed r JOIN archived a ON a.job = r.id GROUP BY r.queue, a.part
),
tallied AS (
    INSERT INTO ratchet.tally (queue, state, part, change)
    SELECT r.queue, $1, e.part, -count(*) FROM removed r JOIN ended e ON e.job = r.id GROUP BY r.queue, e.part
)
SELECT (SELECT count(*) FROM removed) AS n, ARRAY(SELECT DISTINCT graph FROM members) AS graphs
