-- One row: the newest migration.
SELECT COALESCE(max(version), 0) FROM ratchet.migration
