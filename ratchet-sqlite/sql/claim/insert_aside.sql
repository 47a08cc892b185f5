-- Records that lanes have jobs set aside (a list of lanes with their columns).
INSERT INTO ratchet_aside (lane, queue, name, version, slot_key, slot_limit, service, unknown)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7
FROM json_each(?1) WHERE true
ON CONFLICT (lane) DO UPDATE SET unknown = max(unknown, excluded.unknown)
