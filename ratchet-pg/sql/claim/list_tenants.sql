-- The tenants of a queue after a name that have due jobs, in the order of their names. One lookup finds the next one.
WITH RECURSIVE tenants AS (
    (SELECT r.tenant, 1 AS n FROM ratchet.ready r WHERE r.queue = $1 AND r.tenant > $2 ORDER BY r.tenant LIMIT 1)
    UNION ALL
    SELECT (
        SELECT r.tenant FROM ratchet.ready r WHERE r.queue = $1 AND r.tenant > t.tenant ORDER BY r.tenant LIMIT 1
    ), t.n + 1
    FROM tenants t WHERE t.tenant IS NOT NULL AND t.n < $3
)
SELECT t.tenant FROM tenants t WHERE t.tenant IS NOT NULL ORDER BY t.tenant
