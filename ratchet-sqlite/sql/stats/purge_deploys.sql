-- Deletes deploys before a time.
DELETE FROM ratchet_deploy WHERE number IN (SELECT number FROM ratchet_deploy WHERE at < ?1 ORDER BY at LIMIT ?2)
