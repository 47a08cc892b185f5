-- Replaces the texts of a row if they are as expected.
UPDATE ratchet.attempt a SET error = ($4::text[])[1],
    note = ($4::text[])[2]
WHERE a.job = $1::uuid AND a.run = $2::bigint AND ARRAY[a.error, a.note] IS NOT DISTINCT FROM $3::text[]
