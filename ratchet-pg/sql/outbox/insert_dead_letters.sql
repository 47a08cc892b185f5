-- No rows. Inserts deliveries of dead letters, in order.
INSERT INTO ratchet.delivery (channel, envelope)
SELECT 1, x.envelope FROM unnest($1::text[]) WITH ORDINALITY AS x(envelope, place) ORDER BY x.place
