-- The edges from a parent, by ordinal.
SELECT ordinal, child, condition, resolution FROM ratchet_edge WHERE parent = ?1 ORDER BY ordinal
