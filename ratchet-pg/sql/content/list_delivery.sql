-- The messages that wait to be published after a key, with texts that can be encrypted.
SELECT NULL::uuid AS key, d.id AS number, d.job AS job, NULL::text AS pipeline, NULL::text AS name,
    ARRAY[d.envelope] AS texts
FROM ratchet.delivery d
WHERE d.id > $2::bigint AND $1::uuid IS NOT NULL AND d.envelope IS NOT NULL
ORDER BY d.id LIMIT $3::bigint
