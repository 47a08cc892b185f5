-- No rows. Ensures that there is a row to lock.
INSERT INTO ratchet.queue (name, limited, rules) VALUES ($1, false, $2) ON CONFLICT DO NOTHING
