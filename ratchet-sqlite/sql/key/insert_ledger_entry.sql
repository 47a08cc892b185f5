-- Records the use of an idempotency key. It is never deleted.
INSERT INTO ratchet_ledger (scoped_key, job, name, digest) VALUES (?1, ?2, ?3, ?4)
