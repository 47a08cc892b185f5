-- The rejected items after a key, with texts that can be encrypted.
SELECT job, number, job, NULL, NULL, body, NULL, NULL
FROM ratchet_reject WHERE (job, number) > (?1, ?2) ORDER BY job, number LIMIT ?3
