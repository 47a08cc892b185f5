-- The edges of one point.
DELETE FROM ratchet_edge WHERE parent = ?1
