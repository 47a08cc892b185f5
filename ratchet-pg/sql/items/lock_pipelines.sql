-- Locks these pipelines until the commit, so that their checkpoints are in commit order.
SELECT pg_advisory_xact_lock(hashtextextended(__SCOPE__ || 'pipeline ' || p.name, 0))
FROM (SELECT name FROM unnest($1::text[]) AS p(name) ORDER BY hashtextextended(__SCOPE__ || 'pipeline ' || name, 0) OFFSET 0) p
