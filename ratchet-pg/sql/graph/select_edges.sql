-- The edges from these parents, in the order of the parents and then by ordinal.
SELECT e.parent, e.ordinal, e.child, e.parent_group, e.child_group, e.condition, e.resolution
FROM unnest($1::uuid[]) WITH ORDINALITY AS x(point, place)
CROSS JOIN LATERAL (SELECT * FROM ratchet.edge e WHERE e.parent = x.point OFFSET 0) e
ORDER BY x.place, e.ordinal
