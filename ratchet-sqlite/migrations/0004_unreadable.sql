-- Jobs whose rows could not be read. A pending one has `ready` = 4, so that no claim looks at it again.
CREATE TABLE ratchet_unreadable (
    -- The row of ratchet_job.
    seq      INTEGER PRIMARY KEY,
    -- Its id, or a substitute if the id cannot be read.
    id       BLOB    NOT NULL,
    found_at INTEGER NOT NULL,
    -- The first column that could not be read, and why.
    cause    TEXT    NOT NULL,
    why      TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX ratchet_unreadable_id ON ratchet_unreadable (id);
