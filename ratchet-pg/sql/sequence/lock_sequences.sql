-- The last jobs of these sequences. Locks their graphs in a fixed order, and creates the missing ones.
INSERT INTO ratchet.graph AS g (id) SELECT s.id FROM unnest($1::uuid[]) AS s(id) ORDER BY s.id
ON CONFLICT (id) DO UPDATE SET last = g.last
RETURNING g.id, g.last
