-- An idempotency key is used, for ever.
INSERT INTO ratchet_ledger (scoped_key, job, name, digest) VALUES (?1, ?2, ?3, ?4)
