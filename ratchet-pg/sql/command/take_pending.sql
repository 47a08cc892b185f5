-- The job if it waits: it no longer does.
WITH due AS (DELETE FROM ratchet.ready WHERE job = $1 RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey),
later AS (DELETE FROM ratchet.scheduled WHERE job = $1 RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey)
SELECT * FROM due UNION ALL SELECT * FROM later
