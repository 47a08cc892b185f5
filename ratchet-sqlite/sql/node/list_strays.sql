-- Claimed jobs of nodes that do not exist, which only damage can cause.
SELECT job.* FROM ratchet_job AS job INDEXED BY ratchet_job_running
WHERE state = 1 AND NOT EXISTS (SELECT 1 FROM ratchet_node WHERE id = job.node)
ORDER BY node, id LIMIT ?1
