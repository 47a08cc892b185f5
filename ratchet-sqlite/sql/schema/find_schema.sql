-- One row if there is a schema.
SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ratchet_schema'
