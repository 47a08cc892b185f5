-- The job if it was paused. Deletes it from `paused`.
DELETE FROM ratchet.paused WHERE job = $1 RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name, ckey, service, judges, failed,
    (SELECT j.tenant FROM ratchet.job j WHERE j.id = $1) AS tenant
