-- No rows. Removes these members from their leases.
UPDATE ratchet.lease l
SET remaining = l.remaining - g.n,
    versions = ARRAY(
        SELECT CASE WHEN m.job = ANY(g.jobs) THEN 0 ELSE COALESCE(m.version, 1) END
        FROM unnest(l.jobs, l.versions) WITH ORDINALITY AS m(job, version, place) ORDER BY m.place
    )
FROM (
    SELECT x.lease, array_agg(x.job) AS jobs, count(*) AS n
    FROM unnest($1::uuid[], $2::uuid[]) AS x(lease, job) GROUP BY x.lease
) g
WHERE l.id = g.lease
