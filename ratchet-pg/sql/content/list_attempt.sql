-- The errors and notes of runs after a key, with texts that can be encrypted.
SELECT a.job AS key, a.run AS number, a.job AS job, NULL::text AS pipeline, NULL::text AS name,
    ARRAY[a.error, a.note] AS texts
FROM ratchet.attempt a
WHERE (a.job, a.run) > ($1::uuid, $2::bigint)
ORDER BY a.job, a.run LIMIT $3::bigint
