-- Ends the leadership of a node.
DELETE FROM ratchet_leader WHERE one = 1 AND node = ?1
