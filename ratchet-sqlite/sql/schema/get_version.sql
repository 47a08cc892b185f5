-- The version of the schema.
SELECT coalesce(max(version), 0) FROM ratchet_schema
