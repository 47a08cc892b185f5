-- Claimed jobs of nodes that are not there: only damage can do that.
SELECT job.* FROM ratchet_job AS job INDEXED BY ratchet_job_running
WHERE state = 1 AND NOT EXISTS (SELECT 1 FROM ratchet_node WHERE id = job.node)
ORDER BY node, id LIMIT ?1
