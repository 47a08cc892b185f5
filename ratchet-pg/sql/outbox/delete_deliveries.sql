-- No rows. Deletes acknowledged deliveries.
DELETE FROM ratchet.delivery WHERE id = ANY($1::bigint[])
