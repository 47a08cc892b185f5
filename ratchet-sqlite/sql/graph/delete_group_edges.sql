-- Deletes the edges of a group or job.
DELETE FROM ratchet_edge WHERE parent = ?1
