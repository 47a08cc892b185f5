-- No rows. Stores the request that a node brings with it when it joins again.
INSERT INTO ratchet.node_request (node, request) VALUES ($1, $2) ON CONFLICT (node) DO NOTHING
