-- The progress messages, checkpoints and warnings after a key, with texts that can be encrypted.
SELECT id, 0, id, NULL, NULL, progress, checkpoint, warnings
FROM ratchet_job WHERE id > ?1 AND ?2 IS NOT NULL ORDER BY id LIMIT ?3
