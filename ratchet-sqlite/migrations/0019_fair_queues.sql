-- The tenants of jobs, which take turns in fair queues.
ALTER TABLE ratchet_job ADD COLUMN tenant TEXT;
-- Jobs that have not succeeded may run again.
UPDATE ratchet_job SET tenant = own ->> '$.tenant' WHERE state <> 2 AND json_valid(own);
CREATE INDEX ratchet_job_tenant ON ratchet_job (queue, tenant, sort_key, due, id)
    WHERE state = 0 AND ready = 1 AND tenant IS NOT NULL;
