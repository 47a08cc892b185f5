-- What was counted in a slot of time, by queue, job name and process. The process is empty in all tiers but the first.
-- Tiers: 0 minute, 1 ten minutes, 2 hour, 3 day. A slot is the number of such periods since 1970.
CREATE TABLE ratchet_stat (
    tier      INTEGER NOT NULL,
    slot      INTEGER NOT NULL,
    queue     TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    source    BLOB    NOT NULL,
    submitted INTEGER NOT NULL,
    started   INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    retried   INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    deferred  INTEGER NOT NULL,
    released  INTEGER NOT NULL,
    rescued   INTEGER NOT NULL,
    canceled  INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    -- Histograms of the time that jobs waited and ran.
    wait      BLOB    NOT NULL,
    run       BLOB    NOT NULL,
    PRIMARY KEY (tier, slot, queue, name, source)
) STRICT, WITHOUT ROWID;

-- Slots whose sum must be computed, because a slot of the tier below has changed.
CREATE TABLE ratchet_stat_mark (
    tier INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    PRIMARY KEY (tier, slot)
) STRICT, WITHOUT ROWID;

-- The state of a queue in a slot of time.
CREATE TABLE ratchet_gauge (
    tier       INTEGER NOT NULL,
    slot       INTEGER NOT NULL,
    queue      TEXT    NOT NULL,
    -- When the slot was sampled last.
    at         INTEGER NOT NULL,
    depth      INTEGER NOT NULL,
    running    INTEGER NOT NULL,
    paused     INTEGER NOT NULL,
    failed     INTEGER NOT NULL,
    blocked_by INTEGER,
    -- The longest of all samples of the slot, in microseconds.
    oldest_age INTEGER NOT NULL,
    PRIMARY KEY (tier, slot, queue)
) STRICT, WITHOUT ROWID;

-- The first appearance of each version of a program.
CREATE TABLE ratchet_deploy (
    number         INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    program        TEXT    NOT NULL,
    binary_version TEXT    NOT NULL
) STRICT;
CREATE INDEX ratchet_deploy_at ON ratchet_deploy (at);
CREATE INDEX ratchet_deploy_program ON ratchet_deploy (program, number);
