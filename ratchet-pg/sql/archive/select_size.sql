-- One row: the size of the archive in bytes.
SELECT COALESCE(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = __ARCHIVE__ AND c.relkind = 'r'
