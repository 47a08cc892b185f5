-- Records that a lane has jobs set aside.
INSERT INTO ratchet_aside (lane, queue, name, version, slot_key, slot_limit, service, unknown)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (lane) DO UPDATE SET unknown = max(unknown, excluded.unknown)
