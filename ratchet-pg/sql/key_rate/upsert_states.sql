-- No rows. Writes the states of keys. The rules of their queues are locked.
INSERT INTO ratchet.key_rate (queue, key, state, full_until, waiting, ends)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::boolean[], $6::bigint[])
ON CONFLICT (queue, key) DO UPDATE
    SET state = excluded.state, full_until = excluded.full_until, waiting = excluded.waiting, ends = excluded.ends
