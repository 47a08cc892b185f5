-- No rows: how many more, or fewer, jobs there are in terminal states.
INSERT INTO ratchet.tally (queue, state, change)
SELECT * FROM unnest($1::text[], $2::smallint[], $3::bigint[])
