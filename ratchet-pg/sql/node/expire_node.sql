-- No rows. Expires the lease of a node that leaves.
UPDATE ratchet.node n SET until = LEAST(n.until, c.now) FROM (SELECT ratchet.now_micros() AS now) c WHERE n.id = $1
