-- A business key finds its holder.
INSERT INTO ratchet_business (scoped_key, job) VALUES (?1, ?2)
ON CONFLICT (scoped_key) DO NOTHING
