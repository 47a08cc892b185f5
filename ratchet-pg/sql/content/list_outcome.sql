-- The outputs and envelopes after a key, with texts that can be encrypted.
SELECT o.job AS key, 0::bigint AS number, o.job AS job, NULL::text AS pipeline, NULL::text AS name,
    ARRAY[o.output, o.envelope] AS texts
FROM ratchet.outcome o
WHERE o.job > $1::uuid AND $2::bigint IS NOT NULL
ORDER BY o.job LIMIT $3::bigint
