-- Replaces the texts of a row if they are as expected.
UPDATE ratchet.note n SET message = ($4::text[])[1],
    checkpoint = ($4::text[])[2],
    warnings = ARRAY(SELECT w.value FROM json_array_elements_text(($4::text[])[3]::json) WITH ORDINALITY w ORDER BY w.ordinality)
WHERE n.job = $1::uuid AND $2::bigint = 0 AND ARRAY[n.message, n.checkpoint, array_to_json(n.warnings)::text] IS NOT DISTINCT FROM $3::text[]
