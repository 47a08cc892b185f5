-- No rows: the node has left.
UPDATE ratchet.node n SET until = LEAST(n.until, c.now) FROM (SELECT ratchet.now_micros() AS now) c WHERE n.id = $1
