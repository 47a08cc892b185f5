-- One row if the node has joined. No row if it has lost its lease and still holds runs.
INSERT INTO ratchet.node AS n (id, joined_at, until, pid, host, binary_version, queues, names, versions,
    program, declarations)
SELECT $1, c.now, LEAST(c.now + $2, 253402207200999999), $3, $4, $5, $6, $7, $8, $9, $10
FROM (SELECT ratchet.now_micros() AS now) c
ON CONFLICT (id) DO UPDATE SET
    until = EXCLUDED.until, pid = EXCLUDED.pid, host = EXCLUDED.host, binary_version = EXCLUDED.binary_version,
    queues = EXCLUDED.queues, names = EXCLUDED.names, versions = EXCLUDED.versions,
    program = EXCLUDED.program, declarations = EXCLUDED.declarations
WHERE n.until > EXCLUDED.joined_at OR NOT (
    EXISTS (SELECT FROM ratchet.lease l WHERE l.node = n.id AND l.remaining > 0)
    OR EXISTS (SELECT FROM ratchet.lingering x WHERE x.node = n.id)
)
RETURNING n.id
