-- Bulk operations. The record is JSON.
CREATE TABLE ratchet.operation (
    id uuid PRIMARY KEY,
    ended_at bigint,
    record text NOT NULL
);
CREATE INDEX operation_active ON ratchet.operation (id) WHERE ended_at IS NULL;
CREATE INDEX operation_ended ON ratchet.operation (ended_at) WHERE ended_at IS NOT NULL;
