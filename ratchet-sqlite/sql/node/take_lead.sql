-- One row if the node is now the leader. A node without a valid lease cannot lead, and loses the
-- leadership.
INSERT INTO ratchet_leader (one, node, lease_until)
SELECT 1, n.id, ?3 FROM ratchet_node n WHERE n.id = ?1 AND n.lease_until > ?2
ON CONFLICT (one) DO UPDATE SET node = excluded.node, lease_until = excluded.lease_until
WHERE ratchet_leader.node = excluded.node OR ratchet_leader.lease_until <= ?2
    OR NOT EXISTS (SELECT 1 FROM ratchet_node n WHERE n.id = ratchet_leader.node AND n.lease_until > ?2)
RETURNING 1
