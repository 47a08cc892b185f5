-- What the programs of the cluster can run. The entry is JSON.
CREATE TABLE ratchet_catalog (
    name TEXT NOT NULL,
    program TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest TEXT NOT NULL,
    binary_version TEXT NOT NULL,
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    entry TEXT NOT NULL,
    PRIMARY KEY (name, program, version, digest)
) STRICT, WITHOUT ROWID;
