-- The job moves to the archive with its history, notes and logs. What else belongs to it is deleted.
ended AS (DELETE FROM ratchet.outcome o WHERE o.job = ANY (ARRAY(SELECT job FROM old)) RETURNING o AS whole, o.job, o.tableoid AS part),
removed AS (DELETE FROM ratchet.job WHERE id = ANY (ARRAY(SELECT job FROM old)) RETURNING *),
attempts AS (DELETE FROM ratchet.attempt WHERE job = ANY (ARRAY(SELECT job FROM old)) RETURNING *),
notes AS (DELETE FROM ratchet.note WHERE job = ANY (ARRAY(SELECT job FROM old)) RETURNING *),
logs AS (DELETE FROM ratchet.log WHERE job = ANY (ARRAY(SELECT job FROM old)) RETURNING *),
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
