-- Inserts or updates the rules of a queue.
INSERT INTO ratchet_queue (name, limited, rules) VALUES (?1, ?2, ?3)
ON CONFLICT (name) DO UPDATE SET limited = excluded.limited, rules = excluded.rules
