-- No rows. Sets aside the job at this position of its queue.
WITH moved AS (
    DELETE FROM ratchet.ready WHERE queue = $1 AND sort_key = $2 AND due = $3 AND job = $4
    RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue,
        name, ckey, service, judges
)
INSERT INTO ratchet.blocked (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed,
    queue, name, ckey, service, judges, cause)
SELECT m.*, 'unreadable' FROM moved m
