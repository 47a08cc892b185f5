-- No rows. Inserts deliveries of outcomes, in order.
INSERT INTO ratchet.delivery (channel, job, envelope)
SELECT 2, x.job, x.outcome FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS x(job, outcome, place) ORDER BY x.place
