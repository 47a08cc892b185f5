-- Removes entries that were not seen since ?1.
DELETE FROM ratchet_catalogue WHERE last_seen < ?1
