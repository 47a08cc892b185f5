-- Creates the table of applied migrations.
CREATE TABLE IF NOT EXISTS ratchet_schema (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT
