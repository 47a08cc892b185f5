-- Canceled runs of a node that have not been let go.
SELECT job, lease, fence FROM ratchet_lingering WHERE node = ?1 AND canceled = 1 ORDER BY job, lease, fence
