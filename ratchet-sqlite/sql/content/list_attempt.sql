-- The errors and notes of runs after a key, with texts that can be encrypted.
SELECT job, run, job, NULL, NULL, line, NULL, NULL
FROM ratchet_attempt WHERE (job, run) > (?1, ?2) ORDER BY job, run LIMIT ?3
