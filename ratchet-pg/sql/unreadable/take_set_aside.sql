-- The job that was set aside: it no longer is.
DELETE FROM ratchet.blocked WHERE job = $1 AND cause = 'unreadable'
RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name,
    ckey, service, judges
