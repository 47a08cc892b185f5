-- Frees the business keys that a job holds: those held by its id, because its own key may be damaged, and its own key
-- if the holder does not exist, because its id may be damaged.
DELETE FROM ratchet_business
WHERE job = (SELECT id FROM ratchet_job WHERE seq = ?1)
   OR (scoped_key = (SELECT scoped_key FROM ratchet_job WHERE seq = ?1)
       AND NOT EXISTS (SELECT 1 FROM ratchet_job WHERE id = ratchet_business.job))
