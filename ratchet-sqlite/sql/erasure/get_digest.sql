-- The use of an idempotency key of which only the digest is kept.
SELECT job, expires FROM ratchet_erased_key WHERE digest = ?1
