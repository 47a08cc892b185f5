-- The progress messages, checkpoints and warnings after a key, with texts that can be encrypted.
SELECT n.job AS key, 0::bigint AS number, n.job AS job, NULL::text AS pipeline, NULL::text AS name,
    ARRAY[n.message, n.checkpoint, array_to_json(n.warnings)::text] AS texts
FROM ratchet.note n
WHERE n.job > $1::uuid AND $2::bigint IS NOT NULL
ORDER BY n.job LIMIT $3::bigint
