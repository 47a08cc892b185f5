-- Records the use of an idempotency key. Replaces a use that has expired.
INSERT INTO ratchet_ledger (scoped_key, job, name, digest, expires) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (scoped_key) DO UPDATE
SET job = excluded.job, name = excluded.name, digest = excluded.digest, expires = excluded.expires
