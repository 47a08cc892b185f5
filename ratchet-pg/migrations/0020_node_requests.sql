-- What operators request of nodes, as JSON. A table of its own, because only workers change `node`.
CREATE TABLE ratchet.node_request (
    node uuid PRIMARY KEY,
    request text NOT NULL
);

CREATE OR REPLACE VIEW ratchet.v_nodes AS
SELECT n.id, n.host, n.pid, n.program, n.binary_version, n.queues, cardinality(n.names) AS jobs_known,
    ratchet.readable_time(n.joined_at) AS joined_at, ratchet.readable_time(n.until) AS lease_until,
    n.until > c.now AS alive,
    COALESCE(held.running, 0) AS running,
    COALESCE(leads.until > c.now, false) AS leads,
    -- `quiet` or `stop`, if an operator has requested it.
    ratchet.readable_json(r.request) ->> 'action' AS request,
    ratchet.readable_json(r.request) #>> '{actor,name}' AS requested_by
FROM ratchet.node n
CROSS JOIN (SELECT ratchet.now_micros() AS now) c
LEFT JOIN (SELECT l.node, sum(l.remaining) AS running FROM ratchet.lease l GROUP BY l.node) held ON held.node = n.id
LEFT JOIN ratchet.leader leads ON leads.node = n.id
LEFT JOIN ratchet.node_request r ON r.node = n.id
WHERE n.until > c.now OR held.running > 0;
