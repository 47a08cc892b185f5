-- The members that the tokens speak for and that have not left: their place in the batch and everything that moves.
SELECT a.place, l.id AS lease, l.node, l.at AS started_at, l.queue, m.*, m.due - j.head AS sort_key, j.name,
    j.version AS job_version, j.head, j.ckey, j.climit, j.business_key IS NOT NULL OR j.ckey IS NOT NULL AS keyed
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) WITH ORDINALITY AS a(lease, job, version, place)
JOIN ratchet.lease l ON l.id = a.lease
JOIN LATERAL (
    SELECT m.* FROM unnest(l.jobs, l.versions, l.dues, l.runs, l.attempts, l.crashes, l.deferrals, l.generations)
        AS m(job, version, due, run, attempts, crashes, deferrals, generation)
    WHERE m.job = a.job AND m.version = a.version
) m ON true
CROSS JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = m.job OFFSET 0) j
WHERE NOT EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = m.job)
ORDER BY a.place
