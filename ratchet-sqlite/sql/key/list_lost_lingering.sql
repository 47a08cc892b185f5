-- Lingering runs of nodes whose lease ran out.
SELECT job, lease, fence FROM ratchet_lingering
WHERE NOT EXISTS (SELECT 1 FROM ratchet_node WHERE id = ratchet_lingering.node AND lease_until > ?1)
ORDER BY job, lease, fence
