-- One row: whether the schema has a list of migrations.
SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'migration')
