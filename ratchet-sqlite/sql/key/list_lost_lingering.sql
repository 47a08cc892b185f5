-- Lingering runs of nodes whose lease expired.
SELECT job, lease, fence FROM ratchet_lingering
WHERE NOT EXISTS (SELECT 1 FROM ratchet_node WHERE id = ratchet_lingering.node AND lease_until > ?1)
ORDER BY job, lease, fence
