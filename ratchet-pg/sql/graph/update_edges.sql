-- No rows. Updates the resolution of edges.
UPDATE ratchet.edge e SET resolution = x.resolution
FROM unnest($1::uuid[], $2::integer[], $3::text[]) AS x(parent, ordinal, resolution)
WHERE e.parent = x.parent AND e.ordinal = x.ordinal
