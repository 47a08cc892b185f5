-- Of the deliveries of one job, those with a job in `job`, only the oldest is handed out.
ALTER TABLE ratchet.delivery ADD COLUMN job uuid;
CREATE INDEX delivery_job ON ratchet.delivery (job, id) WHERE job IS NOT NULL;
