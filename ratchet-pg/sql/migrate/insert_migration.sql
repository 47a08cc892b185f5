-- No rows: a migration was applied.
INSERT INTO ratchet.migration (version) VALUES ($1)
