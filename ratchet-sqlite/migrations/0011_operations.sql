-- Bulk operations. The record is JSON.
CREATE TABLE ratchet_operation (
    id BLOB PRIMARY KEY,
    ended_at INTEGER,
    record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ratchet_operation_active ON ratchet_operation (id) WHERE ended_at IS NULL;
CREATE INDEX ratchet_operation_ended ON ratchet_operation (ended_at) WHERE ended_at IS NOT NULL;
