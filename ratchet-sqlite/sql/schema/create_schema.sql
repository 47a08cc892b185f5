-- Where the version of the schema is kept.
CREATE TABLE IF NOT EXISTS ratchet_schema (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT
