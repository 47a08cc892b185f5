-- Stores what an operator says about a group.
INSERT INTO ratchet_failure_mark (name, fingerprint, at, mark) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (name, fingerprint) DO UPDATE SET at = excluded.at, mark = excluded.mark
