-- The tokens of the runs that have not left these leases.
SELECT m.job, l.id AS lease, COALESCE(m.version, 1) AS version
FROM unnest($1::uuid[]) AS x(lease) JOIN ratchet.lease l ON l.id = x.lease
CROSS JOIN LATERAL unnest(l.jobs, l.versions) AS m(job, version)
WHERE m.version IS DISTINCT FROM 0
