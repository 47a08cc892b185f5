-- Canceled runs of the node that still linger.
SELECT job, lease, version FROM ratchet.lingering WHERE node = $1 AND canceled ORDER BY job, lease, version
