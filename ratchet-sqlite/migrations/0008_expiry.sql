-- When a job is canceled unless it has started; none after a manual retry.
ALTER TABLE ratchet_job ADD COLUMN expires INTEGER;
CREATE INDEX ratchet_job_expires ON ratchet_job (expires) WHERE expires IS NOT NULL AND state IN (0, 4);
