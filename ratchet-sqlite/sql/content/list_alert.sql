-- The alerts after a key, with texts that can be encrypted.
SELECT NULL, number, job, NULL, NULL, message, NULL, NULL
FROM ratchet_alert WHERE number > ?2 AND ?1 IS NOT NULL ORDER BY number LIMIT ?3
