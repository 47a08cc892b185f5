-- No rows: the node leads no longer.
DELETE FROM ratchet.leader WHERE node = $1
