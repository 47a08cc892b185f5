-- The oldest version of the schema whose programs can use this one. Null if only programs of the version itself and later ones
-- can, as for all versions before.
ALTER TABLE ratchet_schema ADD COLUMN oldest INTEGER;
