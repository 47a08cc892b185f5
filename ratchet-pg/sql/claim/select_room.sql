-- One row if the lease of the node is valid: the store's clock.
SELECT c.now FROM (SELECT ratchet.now_micros() AS now) c
WHERE EXISTS (SELECT FROM ratchet.node WHERE id = $1 AND until > c.now)
