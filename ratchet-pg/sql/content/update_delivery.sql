-- Replaces the texts of a row if they are as expected.
UPDATE ratchet.delivery d SET envelope = ($4::text[])[1]
WHERE $1::uuid IS NULL AND d.id = $2::bigint AND ARRAY[d.envelope] IS NOT DISTINCT FROM $3::text[]
