-- Records a job that could not be read. One row if it was not recorded before.
INSERT INTO ratchet_unreadable (seq, id, found_at, cause, why) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO NOTHING RETURNING 1
