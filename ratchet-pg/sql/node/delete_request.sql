-- No rows. Withdraws what an operator requests of a node.
DELETE FROM ratchet.node_request WHERE node = $1
