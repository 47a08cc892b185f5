    NULL::bigint AS line, NULL::uuid[] AS jobs, NULL::bigint[] AS dues, NULL::bigint[] AS sort_keys, NULL::text[] AS names,
    NULL::integer[] AS job_versions, NULL::text[] AS services, NULL::bytea[] AS payloads
FROM clock, road
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    l.place, l.jobs, l.dues, l.sort_keys, l.names, l.job_versions, l.services, l.payloads
FROM line l
