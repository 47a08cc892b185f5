-- One row if the lease was renewed: what an operator requests of the node.
UPDATE ratchet.node n SET until = LEAST(c.now + $2, 253402207200999999)
FROM (SELECT ratchet.now_micros() AS now) c
WHERE n.id = $1 AND n.until > c.now
RETURNING (SELECT r.request FROM ratchet.node_request r WHERE r.node = n.id) AS request
