-- No rows: the oldest version whose programs can use the schema was recorded.
UPDATE ratchet.migration SET oldest = $2 WHERE version = $1
