-- The leases that have these jobs as members.
SELECT l.id AS lease, m.job FROM ratchet.lease l CROSS JOIN LATERAL unnest(l.jobs) AS m(job)
WHERE l.remaining > 0 AND m.job = ANY($1::uuid[])
