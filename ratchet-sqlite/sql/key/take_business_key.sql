-- Takes a business key, unless it is held.
INSERT INTO ratchet_business (scoped_key, job) VALUES (?1, ?2)
ON CONFLICT (scoped_key) DO NOTHING
