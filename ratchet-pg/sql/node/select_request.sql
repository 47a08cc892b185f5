-- One row if the node has a valid lease: what an operator requests of it.
SELECT r.request FROM ratchet.node n LEFT JOIN ratchet.node_request r ON r.node = n.id
WHERE n.id = $1 AND n.until > ratchet.now_micros()
