-- The given ids that exist.
SELECT j.id FROM unnest($1::uuid[]) AS x(id) CROSS JOIN LATERAL (SELECT j.id FROM ratchet.job j WHERE j.id = x.id OFFSET 0) j
