-- The changes that operators made. Each hash covers its row and the hash of the row before it.
CREATE TABLE ratchet.audit (
    number bigint PRIMARY KEY,
    at bigint NOT NULL,
    actor text NOT NULL,
    via text NOT NULL,
    address text,
    reason text,
    verb text NOT NULL,
    target text NOT NULL,
    before text,
    after text,
    hash bytea NOT NULL
);
-- The last row of the audit trail, so that its removal is noticed. Its lock orders the changes.
CREATE TABLE ratchet.audit_head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    number bigint NOT NULL,
    hash bytea NOT NULL
);
INSERT INTO ratchet.audit_head (number, hash) VALUES (0, decode(repeat('00', 32), 'hex'));
