-- Frees the business key of an ended job, unless one of its runs lingers.
DELETE FROM ratchet_business
WHERE scoped_key = ?1 AND job = ?2 AND NOT EXISTS (SELECT 1 FROM ratchet_lingering WHERE job = ?2)
