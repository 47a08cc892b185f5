-- Replaces the texts of a row if they are as expected.
UPDATE ratchet.alert a SET message = ($4::text[])[1]
WHERE $1::uuid IS NULL AND a.id = $2::bigint AND ARRAY[a.message] IS NOT DISTINCT FROM $3::text[]
