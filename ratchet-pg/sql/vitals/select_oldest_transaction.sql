-- At most one row: the transaction of this database that has been open longest, as far as this user may see.
SELECT (extract(epoch FROM clock_timestamp() - t.since) * 1000000)::bigint AS age, t.session
FROM (
    SELECT a.xact_start AS since, format('process %s of user %s (%s), %s', a.pid, a.usename,
        COALESCE(NULLIF(a.application_name, ''), 'no application name'), a.state) AS session
    FROM pg_stat_activity a
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'
    UNION ALL
    SELECT p.prepared, format('prepared transaction %s of user %s', p.gid, p.owner)
    FROM pg_prepared_xacts p WHERE p.database = current_database()
) t
WHERE t.since IS NOT NULL
ORDER BY t.since LIMIT 1
