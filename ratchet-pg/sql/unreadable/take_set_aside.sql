-- The job if it was set aside as unreadable. Deletes it from `blocked`.
DELETE FROM ratchet.blocked WHERE job = $1 AND cause = 'unreadable'
RETURNING job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation, climit, keyed, queue, name,
    ckey, service, judges, (SELECT j.tenant FROM ratchet.job j WHERE j.id = $1) AS tenant
