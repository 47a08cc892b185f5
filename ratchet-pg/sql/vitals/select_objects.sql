-- The tables, views, sequences and indexes of the schema, except those of partitions, and whether they are valid.
SELECT c.relname::text AS name, COALESCE(i.indisvalid AND i.indisready, true) AS valid
FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relnamespace = to_regnamespace(quote_ident(__HOME__)) AND NOT c.relispartition
ORDER BY c.relname COLLATE "C"
