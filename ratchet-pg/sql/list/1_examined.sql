-- How many jobs a source has after a job, newest first; how many of them are at or before the last job of a page; and the last
-- one that may be examined.
SELECT count(*) AS n, count(*) FILTER (WHERE s.id >= $19::uuid) AS passed, (array_agg(s.id ORDER BY s.id DESC))[($17 - 1)::integer] AS last
FROM (
