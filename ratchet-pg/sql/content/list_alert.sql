-- The alerts after a key, with texts that can be encrypted.
SELECT NULL::uuid AS key, a.id AS number, a.job AS job, NULL::text AS pipeline, NULL::text AS name,
    ARRAY[a.message] AS texts
FROM ratchet.alert a
WHERE a.id > $2::bigint AND $1::uuid IS NOT NULL
ORDER BY a.id LIMIT $3::bigint
