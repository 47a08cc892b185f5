-- Those of the ids that exist.
SELECT id FROM ratchet.job WHERE id = ANY($1::uuid[])
