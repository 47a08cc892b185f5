-- No rows. Records that hand-offs were admitted as jobs.
INSERT INTO ratchet.admission (job, pipeline, key, handed_by, handed_at, at)
SELECT x.job, $1, x.key, x.handed_by, x.handed_at, $2
FROM unnest($3::uuid[], $4::text[], $5::uuid[], $6::bigint[]) WITH ORDINALITY AS x(job, key, handed_by, handed_at, place)
ORDER BY x.place
