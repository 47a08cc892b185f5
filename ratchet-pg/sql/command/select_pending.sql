-- The immutable part of a moving row.
SELECT j.version AS job_version, j.climit, j.business_key IS NOT NULL OR j.ckey IS NOT NULL AS keyed, j.queue, j.name,
    j.ckey, j.service, j.head
FROM ratchet.job j WHERE j.id = $1
