-- Writes the states of keys (a list of rows).
INSERT INTO ratchet_key_rate (queue, key, state, full_until, waiting, ends)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?1) WHERE true
ON CONFLICT (queue, key) DO UPDATE
SET state = excluded.state, full_until = excluded.full_until, waiting = excluded.waiting, ends = excluded.ends
