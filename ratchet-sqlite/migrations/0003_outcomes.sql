-- Of the deliveries of one job, those with a job in `job`, only the oldest is handed out.
ALTER TABLE ratchet_delivery ADD COLUMN job BLOB;
CREATE INDEX ratchet_delivery_job ON ratchet_delivery (job, number) WHERE job IS NOT NULL;
