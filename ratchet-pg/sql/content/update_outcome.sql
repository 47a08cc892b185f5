-- Replaces the texts of a row if they are as expected.
UPDATE ratchet.outcome o SET output = ($4::text[])[1],
    envelope = ($4::text[])[2]
WHERE o.job = $1::uuid AND $2::bigint = 0 AND ARRAY[o.output, o.envelope] IS NOT DISTINCT FROM $3::text[]
