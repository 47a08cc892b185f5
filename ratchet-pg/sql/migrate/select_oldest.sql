-- One row: the oldest version whose programs can use the schema.
SELECT oldest FROM ratchet.migration WHERE version = $1
