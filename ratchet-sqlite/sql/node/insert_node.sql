-- Inserts a node, or updates it if it joins again.
INSERT INTO ratchet_node
    (id, host, pid, binary_version, queues, known, joined_at, lease_until, program, declarations, request,
     declared)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
ON CONFLICT (id) DO UPDATE
SET host = excluded.host, pid = excluded.pid, binary_version = excluded.binary_version, queues = excluded.queues,
    known = excluded.known, lease_until = excluded.lease_until, program = excluded.program,
    declarations = excluded.declarations, request = COALESCE(request, excluded.request),
    declared = declared OR excluded.declared
