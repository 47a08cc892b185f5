-- No rows. Links a job to its successor, unless it has one.
INSERT INTO ratchet.successor (original, successor) VALUES ($1, $2) ON CONFLICT DO NOTHING
