-- The rejected items after a key, with texts that can be encrypted.
SELECT r.job AS key, r.number AS number, r.job AS job, NULL::text AS pipeline, NULL::text AS name,
    ARRAY[r.message, r.payload] AS texts
FROM ratchet.reject r
WHERE (r.job, r.number) > ($1::uuid, $2::bigint)
ORDER BY r.job, r.number LIMIT $3::bigint
