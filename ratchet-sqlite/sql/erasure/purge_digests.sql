-- Deletes digests of idempotency keys whose jobs and graphs are older than an id.
DELETE FROM ratchet_erased_key WHERE digest IN (
    SELECT digest FROM ratchet_erased_key WHERE job < ?1 LIMIT ?2
)
