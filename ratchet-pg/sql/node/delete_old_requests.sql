-- No rows. Deletes the requests to nodes that are gone.
DELETE FROM ratchet.node_request r WHERE NOT EXISTS (SELECT FROM ratchet.node n WHERE n.id = r.node)
