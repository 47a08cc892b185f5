-- So many points, these first and then what follows them, each with its edges: one row per edge, or one without.
WITH RECURSIVE reached AS (
    SELECT x.point FROM unnest($1::uuid[]) AS x(point)
    UNION
    SELECT e.child FROM reached r
    CROSS JOIN LATERAL (SELECT e.child FROM ratchet.edge e WHERE e.parent = r.point OFFSET 0) e
)
SELECT r.point, e.parent, e.ordinal, e.child, e.parent_group, e.child_group, e.condition, e.resolution
-- No more is walked than is asked for.
FROM (SELECT point FROM reached LIMIT $2) r
LEFT JOIN LATERAL (SELECT * FROM ratchet.edge e WHERE e.parent = r.point OFFSET 0) e ON true
