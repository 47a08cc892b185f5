-- Replaces the texts of a row if they are as expected.
UPDATE ratchet.hand_off h SET checkpoint = ($4::text[])[1]
WHERE $1::uuid IS NULL AND h.number = $2::bigint AND ARRAY[h.checkpoint] IS NOT DISTINCT FROM $3::text[]
