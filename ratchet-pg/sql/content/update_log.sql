-- Replaces the texts of a row if they are as expected.
UPDATE ratchet.log l SET message = ($4::text[])[1]
WHERE l.job = $1::uuid AND l.line = $2::bigint AND ARRAY[l.message] IS NOT DISTINCT FROM $3::text[]
