-- No rows. Stores what an operator says about a group.
INSERT INTO ratchet.failure_mark (name, fingerprint, at, mark) VALUES ($1, $2, $3, $4)
ON CONFLICT (name, fingerprint) DO UPDATE SET at = EXCLUDED.at, mark = EXCLUDED.mark
