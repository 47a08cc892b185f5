-- Deletes the digests of idempotency keys that have expired.
DELETE FROM ratchet_erased_key WHERE expires <= ?1
