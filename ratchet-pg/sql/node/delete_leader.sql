-- No rows. Ends the leadership of a node.
DELETE FROM ratchet.leader WHERE node = $1
