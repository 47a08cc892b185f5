-- Recurring jobs: one row each, fenced by its version.
CREATE TABLE ratchet_schedule (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    next    INTEGER,
    paused  INTEGER NOT NULL,
    body    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ratchet_schedule_next ON ratchet_schedule (next) WHERE paused = 0 AND next IS NOT NULL;

-- Items that runs have set aside.
CREATE TABLE ratchet_reject (
    job         BLOB    NOT NULL,
    number      INTEGER NOT NULL,
    job_name    TEXT    NOT NULL,
    error_type  TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX ratchet_reject_kind ON ratchet_reject (job_name, error_type, fingerprint);

-- Checkpoints that runs have handed on. A key stays, so that a repeat is known for ever.
CREATE TABLE ratchet_hand_off (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    pipeline   TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    job        BLOB    NOT NULL,
    checkpoint TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    repeats    INTEGER NOT NULL DEFAULT 0,
    held_until INTEGER,
    finished   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX ratchet_hand_off_key ON ratchet_hand_off (pipeline, key);
CREATE INDEX ratchet_hand_off_waiting ON ratchet_hand_off (pipeline, number) WHERE finished = 0;
