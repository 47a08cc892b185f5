-- The digests that replace idempotency keys when everything of a tenant or a correlation id is deleted.
CREATE TABLE ratchet_erased_key (
    digest  BLOB PRIMARY KEY,
    job     BLOB NOT NULL,
    expires INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX ratchet_erased_key_expires ON ratchet_erased_key (expires) WHERE expires IS NOT NULL;

-- What belongs to a job, a tenant or a correlation id.
CREATE INDEX ratchet_alert_job ON ratchet_alert (job);
CREATE INDEX ratchet_delivery_alert ON ratchet_delivery (alert) WHERE alert IS NOT NULL;
CREATE INDEX ratchet_hand_off_job ON ratchet_hand_off (job);
CREATE INDEX ratchet_hand_off_tenant ON ratchet_hand_off (tenant) WHERE tenant IS NOT NULL;
CREATE INDEX ratchet_hand_off_correlation ON ratchet_hand_off (correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX ratchet_admission_handed_by ON ratchet_admission (handed_by);
