-- No rows: deliveries that arrived.
DELETE FROM ratchet.delivery WHERE id = ANY($1::bigint[])
