-- Deletes nodes whose lease expired and that hold no job.
DELETE FROM ratchet_node
WHERE lease_until <= ?1 AND NOT EXISTS (SELECT 1 FROM ratchet_job WHERE state = 1 AND node = ratchet_node.id)
