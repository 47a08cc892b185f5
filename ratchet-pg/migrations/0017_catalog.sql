-- What the programs of the cluster can run. The entry is JSON.
CREATE TABLE ratchet.catalog (
    name text COLLATE "C" NOT NULL,
    program text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    digest text COLLATE "C" NOT NULL,
    binary_version text NOT NULL,
    first_seen bigint NOT NULL,
    last_seen bigint NOT NULL,
    entry text NOT NULL,
    PRIMARY KEY (name, program, version, digest)
);
