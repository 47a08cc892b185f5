-- The handed-off checkpoints after a key, with texts that can be encrypted. There is no index on the number: rotations are rare.
SELECT NULL::uuid AS key, h.number AS number, h.job AS job, h.pipeline, h.key AS name,
    ARRAY[h.checkpoint] AS texts
FROM ratchet.hand_off h
WHERE h.number > $2::bigint AND $1::uuid IS NOT NULL
ORDER BY h.number LIMIT $3::bigint
