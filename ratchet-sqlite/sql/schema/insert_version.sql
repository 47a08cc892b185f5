-- Records an applied migration.
INSERT INTO ratchet_schema (version, applied_at) VALUES (?1, ?2)
