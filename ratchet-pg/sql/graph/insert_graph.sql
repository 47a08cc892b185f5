-- No rows: something new to lock.
INSERT INTO ratchet.graph (id) VALUES ($1) ON CONFLICT DO NOTHING
