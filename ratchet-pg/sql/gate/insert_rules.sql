-- No rows: there is something to be locked.
INSERT INTO ratchet.queue (name, limited, rules) VALUES ($1, false, $2) ON CONFLICT DO NOTHING
