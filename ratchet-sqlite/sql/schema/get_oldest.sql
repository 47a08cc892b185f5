-- The oldest version whose programs can use the schema.
SELECT oldest FROM ratchet_schema WHERE version = ?1
