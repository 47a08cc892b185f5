-- No rows. Records entries, in the order of the primary key. Those that are already stored are marked as seen.
INSERT INTO ratchet.catalog AS c (name, program, version, digest, binary_version, first_seen, last_seen, entry)
SELECT n.name, $1, n.version, n.digest, $2, t.now, t.now, n.entry
FROM unnest($3::text[], $4::integer[], $5::text[], $6::text[]) AS n (name, version, digest, entry),
    (SELECT ratchet.now_micros() AS now) t
ORDER BY n.name COLLATE "C", n.version, n.digest COLLATE "C"
ON CONFLICT (name, program, version, digest)
DO UPDATE SET binary_version = EXCLUDED.binary_version, last_seen = EXCLUDED.last_seen
