-- No rows. Inserts the row that locks a graph.
INSERT INTO ratchet.graph (id) VALUES ($1) ON CONFLICT DO NOTHING
