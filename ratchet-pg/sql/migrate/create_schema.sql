-- No rows: the schema and the list of its migrations.
CREATE SCHEMA IF NOT EXISTS __SCHEMA__;
CREATE TABLE IF NOT EXISTS ratchet.migration (version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())
