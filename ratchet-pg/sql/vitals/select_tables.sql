-- The estimated numbers of rows of the tables that change most.
SELECT s.relname::text AS name, s.n_live_tup AS live, s.n_dead_tup AS dead
FROM pg_stat_user_tables s
WHERE s.schemaname = __HOME__ AND s.relname IN ('ready', 'scheduled', 'blocked', 'lease', 'tally', 'expiry')
ORDER BY s.relname COLLATE "C"
