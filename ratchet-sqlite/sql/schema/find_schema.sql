-- One row if the schema exists.
SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ratchet_schema'
