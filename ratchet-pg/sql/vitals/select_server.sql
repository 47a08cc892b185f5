-- One row: the settings and the condition of the server.
SELECT (SELECT l.until FROM ratchet.leader l) AS leader_until,
    (SELECT max(p.ends) FROM ratchet.part p) AS partitions_until,
    CASE
        WHEN current_setting('fsync') = 'off' THEN 'fsync = off'
        WHEN current_setting('full_page_writes') = 'off' THEN 'full_page_writes = off'
        WHEN current_setting('synchronous_commit') = 'off' THEN 'synchronous_commit = off'
    END AS unsafe_commits,
    CASE
        WHEN current_setting('autovacuum') = 'off' THEN 'autovacuum = off'
        WHEN current_setting('track_counts') = 'off' THEN 'track_counts = off'
        ELSE (
            SELECT 'autovacuum_enabled = off for ' || string_agg(c.relname::text, ', ' ORDER BY c.relname)
            FROM pg_class c CROSS JOIN LATERAL pg_options_to_table(c.reloptions) o
            WHERE c.relnamespace = to_regnamespace(quote_ident(__HOME__)) AND c.relkind IN ('r', 'p')
                AND o.option_name = 'autovacuum_enabled' AND NOT o.option_value::boolean
        )
    END AS no_autovacuum,
    (SELECT COALESCE(sum(d.numbackends), 0)::bigint FROM pg_stat_database d) AS connections,
    current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint AS max_connections,
    CASE
        WHEN inet_server_addr() IS NULL OR inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1' THEN NULL
        WHEN (SELECT s.ssl FROM pg_stat_ssl s WHERE s.pid = pg_backend_pid()) THEN NULL
        ELSE host(inet_server_addr())
    END AS unencrypted
