-- Jobs that run in order: the last job of each concurrency key. Each waits for the one before it, by an edge.
CREATE TABLE ratchet_sequence (
    key  TEXT PRIMARY KEY,
    last BLOB NOT NULL
) STRICT, WITHOUT ROWID;
