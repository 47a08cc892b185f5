-- The changes that operators made. Each hash covers its row and the hash of the row before it.
CREATE TABLE ratchet_audit (
    number INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    via TEXT NOT NULL,
    address TEXT,
    reason TEXT,
    verb TEXT NOT NULL,
    target TEXT NOT NULL,
    before TEXT,
    after TEXT,
    hash BLOB NOT NULL
) STRICT;
-- The last row of the audit trail, so that its removal is noticed.
CREATE TABLE ratchet_audit_head (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    number INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
INSERT INTO ratchet_audit_head (one, number, hash) VALUES (1, 0, zeroblob(32));
