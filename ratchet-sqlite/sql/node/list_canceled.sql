-- Canceled runs of a node that still linger.
SELECT job, lease, fence FROM ratchet_lingering WHERE node = ?1 AND canceled = 1 ORDER BY job, lease, fence
