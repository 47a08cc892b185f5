-- The handed-off checkpoints after a key, with texts that can be encrypted.
SELECT NULL, number, job, pipeline, key, checkpoint, NULL, NULL
FROM ratchet_hand_off WHERE number > ?2 AND ?1 IS NOT NULL ORDER BY number LIMIT ?3
