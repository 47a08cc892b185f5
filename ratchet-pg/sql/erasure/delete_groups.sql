-- No rows. Deletes groups with their edges.
WITH edges AS (DELETE FROM ratchet.edge WHERE parent = ANY($1::uuid[]))
DELETE FROM ratchet.job_group WHERE id = ANY($1::uuid[])
