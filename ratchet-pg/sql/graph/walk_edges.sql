-- A limited number of vertices, first the given ones and then those that follow them, each with its edges: one row per
-- edge, or one row without an edge.
WITH RECURSIVE reached AS (
    SELECT x.point FROM unnest($1::uuid[]) AS x(point)
    UNION
    SELECT e.child FROM reached r
    CROSS JOIN LATERAL (SELECT e.child FROM ratchet.edge e WHERE e.parent = r.point OFFSET 0) e
)
SELECT r.point, e.parent, e.ordinal, e.child, e.parent_group, e.child_group, e.condition, e.resolution
-- The recursion stops at the limit.
FROM (SELECT point FROM reached LIMIT $2) r
LEFT JOIN LATERAL (SELECT * FROM ratchet.edge e WHERE e.parent = r.point OFFSET 0) e ON true
