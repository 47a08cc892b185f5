-- The log lines after a key, with texts that can be encrypted.
SELECT job, number, job, NULL, NULL, line, NULL, NULL
FROM ratchet_log WHERE (job, number) > (?1, ?2) ORDER BY job, number LIMIT ?3
