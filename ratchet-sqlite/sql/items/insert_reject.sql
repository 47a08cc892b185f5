-- Inserts a reject, or updates an existing one.
INSERT INTO ratchet_reject (job, number, job_name, error_type, fingerprint, at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (job, number) DO UPDATE SET error_type = excluded.error_type, fingerprint = excluded.fingerprint, at = excluded.at, body = excluded.body
