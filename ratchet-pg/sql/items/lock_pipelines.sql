-- No more is handed to these pipelines until the commit: so their order is that of the commits.
SELECT pg_advisory_xact_lock(hashtextextended(__SCOPE__ || 'pipeline ' || p.name, 0))
FROM (SELECT name FROM unnest($1::text[]) AS p(name) ORDER BY hashtextextended(__SCOPE__ || 'pipeline ' || name, 0) OFFSET 0) p
