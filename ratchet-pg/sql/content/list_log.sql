-- The log lines after a key, with texts that can be encrypted.
SELECT l.job AS key, l.line AS number, l.job AS job, NULL::text AS pipeline, NULL::text AS name,
    ARRAY[l.message] AS texts
FROM ratchet.log l
WHERE (l.job, l.line) > ($1::uuid, $2::bigint)
ORDER BY l.job, l.line LIMIT $3::bigint
