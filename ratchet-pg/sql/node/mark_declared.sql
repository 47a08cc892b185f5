-- No rows. Records that a node has called `try_declare`. The node may have left.
INSERT INTO ratchet.declared_node (node) SELECT n.id FROM ratchet.node n WHERE n.id = $1 ON CONFLICT DO NOTHING
