-- Records the oldest version whose programs can use the schema.
UPDATE ratchet_schema SET oldest = ?2 WHERE version = ?1
