-- Runs of the node that were canceled and have not been let go.
SELECT job, lease, version FROM ratchet.lingering WHERE node = $1 AND canceled ORDER BY job, lease, version
