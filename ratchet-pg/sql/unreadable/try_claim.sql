-- Fails if the row at this place is one that no claim can take.
SELECT r.version + 1, r.run + 1, r.judges::jsonb <@ '[]'::jsonb
FROM ratchet.ready r WHERE r.ctid = $1::text::tid
