-- The messages that wait to be published after a key, with texts that can be encrypted.
SELECT NULL, number, job, NULL, NULL, envelope, NULL, NULL
FROM ratchet_delivery WHERE number > ?2 AND ?1 IS NOT NULL AND envelope IS NOT NULL ORDER BY number LIMIT ?3
