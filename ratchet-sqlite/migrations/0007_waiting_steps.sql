-- Finds the jobs of a template that wait for other steps, or were set aside as unreadable.
CREATE INDEX ratchet_job_waiting ON ratchet_job (template) WHERE state = 0 AND ready > 2;
