-- No rows: hints for the other processes.
SELECT pg_notify($1, x.text) FROM unnest($2::text[]) AS x(text)
