-- The tenants of a queue after a name that have jobs in its line, in the order of their names. One lookup finds the next
-- one.
WITH RECURSIVE tenants (tenant, n) AS (
    SELECT (
        SELECT tenant FROM ratchet_job WHERE state = 0 AND ready = 1 AND queue = ?1 AND tenant > ?2
        ORDER BY tenant LIMIT 1
    ), 1
    UNION ALL
    SELECT (
        SELECT job.tenant FROM ratchet_job AS job
        WHERE job.state = 0 AND job.ready = 1 AND job.queue = ?1 AND job.tenant > tenants.tenant
        ORDER BY job.tenant LIMIT 1
    ), n + 1
    FROM tenants WHERE tenant IS NOT NULL AND n < ?3
)
SELECT tenant FROM tenants WHERE tenant IS NOT NULL
