-- No rows. Inserts an operation, unless it exists.
INSERT INTO ratchet.operation (id, ended_at, record) VALUES ($1, $2, $3)
ON CONFLICT (id) DO NOTHING
