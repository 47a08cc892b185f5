-- Sets the last job of a sequence.
INSERT INTO ratchet_sequence (key, last) VALUES (?1, ?2)
ON CONFLICT (key) DO UPDATE SET last = excluded.last
