-- Claimed jobs of nodes whose lease ran out.
SELECT job.* FROM ratchet_node AS node
CROSS JOIN ratchet_job AS job ON job.state = 1 AND job.node = node.id
WHERE node.lease_until <= ?1
ORDER BY node.id, job.id LIMIT ?2
