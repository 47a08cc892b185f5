-- No rows. Deletes leases without members.
DELETE FROM ratchet.lease WHERE id = ANY($1::uuid[]) AND remaining <= 0
