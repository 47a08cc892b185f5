-- Chains, batches, workflows, recurring jobs, rejects and hand-offs. A job in no graph has nulls here and pays nothing.

-- The group it is a member of.
ALTER TABLE ratchet_job ADD COLUMN grp BLOB;
-- Whether something waits for it: 1, or else null. Set for every member and every callback of a group, 0 if nothing does.
ALTER TABLE ratchet_job ADD COLUMN linked INTEGER;
-- For a step: what it waits for. While it does, `ready` is 3.
ALTER TABLE ratchet_job ADD COLUMN wait TEXT;
-- For a job that was canceled because of another: what that goes back to.
ALTER TABLE ratchet_job ADD COLUMN root_cause TEXT;
CREATE INDEX ratchet_job_grp ON ratchet_job (grp, id) WHERE grp IS NOT NULL;

-- A chain, batch or workflow. The body holds what is not looked for.
CREATE TABLE ratchet_group (
    id          BLOB PRIMARY KEY,
    owner       BLOB,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    state       TEXT NOT NULL,
    finished_at INTEGER,
    body        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ratchet_group_owner ON ratchet_group (owner, id);
CREATE INDEX ratchet_group_finished ON ratchet_group (finished_at) WHERE finished_at IS NOT NULL;

-- A dependency. Points are 17 bytes: 0 for a job or 1 for a group, then the id.
CREATE TABLE ratchet_edge (
    parent     BLOB    NOT NULL,
    ordinal    INTEGER NOT NULL,
    child      BLOB    NOT NULL,
    condition  TEXT    NOT NULL,
    resolution TEXT,
    PRIMARY KEY (parent, ordinal)
) STRICT, WITHOUT ROWID;

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
