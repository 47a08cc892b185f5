-- Inserts a checkpoint, or counts a repeat of an existing one.
INSERT INTO ratchet_hand_off (pipeline, key, job, checkpoint, at, tenant, correlation_id)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (pipeline, key) DO UPDATE SET repeats = iif(repeats BETWEEN 0 AND 4294967295, repeats, 0) + 1
