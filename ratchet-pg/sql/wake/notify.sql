-- One row per hint. Sends hints to other processes.
SELECT pg_notify($1, x.text) FROM unnest($2::text[]) AS x(text)
