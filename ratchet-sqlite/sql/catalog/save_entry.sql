-- Records an entry. One that is already stored is marked as seen.
INSERT INTO ratchet_catalog (name, program, version, digest, binary_version, first_seen, last_seen, entry)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)
ON CONFLICT (name, program, version, digest)
DO UPDATE SET binary_version = excluded.binary_version, last_seen = excluded.last_seen
