-- Records the digest of an idempotency key that was erased.
INSERT INTO ratchet_erased_key (digest, job, expires) VALUES (?1, ?2, ?3)
ON CONFLICT (digest) DO UPDATE SET job = excluded.job, expires = excluded.expires
