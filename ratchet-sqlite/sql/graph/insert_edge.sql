-- Inserts an edge, or updates its resolution.
INSERT INTO ratchet_edge (parent, ordinal, child, condition, resolution) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (parent, ordinal) DO UPDATE SET resolution = excluded.resolution
