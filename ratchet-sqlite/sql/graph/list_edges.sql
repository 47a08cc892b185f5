-- The edges that lead from a point, in their order.
SELECT ordinal, child, condition, resolution FROM ratchet_edge WHERE parent = ?1 ORDER BY ordinal
