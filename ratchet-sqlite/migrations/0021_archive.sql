-- The archive is a second file with the same schema. In it, these tables say which jobs are archived; in the file of the
-- jobs they are empty.
CREATE TABLE ratchet_archived (
    job   BLOB    PRIMARY KEY,
    state INTEGER NOT NULL,
    at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ratchet_archived_at ON ratchet_archived (state, at, job);

-- Jobs that are copied to the archive and may still be in the file of the jobs, where they are read meanwhile.
CREATE TABLE ratchet_archiving (
    job BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;
