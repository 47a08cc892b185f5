-- Removes entries that were not seen since ?1.
DELETE FROM ratchet_catalog WHERE last_seen < ?1
