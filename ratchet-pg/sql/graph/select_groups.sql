-- The groups with these ids.
SELECT g.body FROM unnest($1::uuid[]) AS x(id)
CROSS JOIN LATERAL (SELECT * FROM ratchet.job_group g WHERE g.id = x.id OFFSET 0) g
