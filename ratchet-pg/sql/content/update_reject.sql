-- Replaces the texts of a row if they are as expected.
UPDATE ratchet.reject r SET message = ($4::text[])[1],
    payload = ($4::text[])[2]
WHERE r.job = $1::uuid AND r.number = $2::bigint AND ARRAY[r.message, r.payload] IS NOT DISTINCT FROM $3::text[]
