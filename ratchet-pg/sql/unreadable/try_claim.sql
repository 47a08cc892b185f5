-- Fails if this row cannot be claimed.
SELECT r.version + 1, r.run + 1, r.judges::jsonb <@ '[]'::jsonb
FROM ratchet.ready r WHERE r.ctid = $1::text::tid
