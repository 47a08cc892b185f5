-- Records that a hand-off was admitted as a job.
INSERT INTO ratchet_admission (job, pipeline, key, handed_by, handed_at, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
