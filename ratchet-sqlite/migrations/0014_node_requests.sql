-- What an operator requests of a node, as JSON.
ALTER TABLE ratchet_node ADD COLUMN request TEXT;

DROP VIEW ratchet_v_nodes;
CREATE VIEW ratchet_v_nodes AS
SELECT lower(substr(hex(n.id), 1, 8) || '-' || substr(hex(n.id), 9, 4) || '-' || substr(hex(n.id), 13, 4) || '-' || substr(hex(n.id), 17, 4)
        || '-' || substr(hex(n.id), 21)) AS id,
    n.host, n.pid, n.program, n.binary_version, n.queues,
    strftime('%Y-%m-%dT%H:%M:%S', n.joined_at / 1000000, 'unixepoch') || printf('.%06dZ', n.joined_at % 1000000) AS joined_at,
    strftime('%Y-%m-%dT%H:%M:%S', n.lease_until / 1000000, 'unixepoch') || printf('.%06dZ', n.lease_until % 1000000) AS lease_until,
    n.lease_until > CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) AS alive,
    (SELECT count(*) FROM ratchet_job j WHERE j.node = n.id AND j.state = 1) AS running,
    EXISTS (SELECT 1 FROM ratchet_leader l WHERE l.node = n.id) AS leads,
    -- `quiet` or `stop`, if an operator has requested it.
    CASE WHEN json_valid(n.request) THEN n.request ->> 'action' END AS request,
    CASE WHEN json_valid(n.request) THEN n.request ->> '$.actor.name' END AS requested_by
FROM ratchet_node n
WHERE n.lease_until > CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)
    OR EXISTS (SELECT 1 FROM ratchet_job j WHERE j.node = n.id AND j.state = 1);
