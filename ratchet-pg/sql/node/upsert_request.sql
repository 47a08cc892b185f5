-- No rows. Sets what an operator requests of a node.
INSERT INTO ratchet.node_request (node, request) VALUES ($1, $2)
ON CONFLICT (node) DO UPDATE SET request = EXCLUDED.request
