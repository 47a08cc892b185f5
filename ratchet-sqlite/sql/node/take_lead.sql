-- One row if the node is now the leader.
INSERT INTO ratchet_leader (one, node, lease_until) VALUES (1, ?1, ?3)
ON CONFLICT (one) DO UPDATE SET node = excluded.node, lease_until = excluded.lease_until
WHERE ratchet_leader.node = excluded.node OR ratchet_leader.lease_until <= ?2
RETURNING 1
