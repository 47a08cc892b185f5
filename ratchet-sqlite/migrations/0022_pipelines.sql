-- Who hands a checkpoint over. What earlier versions hand over has neither.
ALTER TABLE ratchet_hand_off ADD COLUMN tenant TEXT;
ALTER TABLE ratchet_hand_off ADD COLUMN correlation_id TEXT;

-- The pipelines that a job accepts.
CREATE TABLE ratchet_pipeline (
    name          TEXT PRIMARY KEY,
    program       TEXT    NOT NULL,
    job           TEXT    NOT NULL,
    backlog_limit INTEGER,
    -- How many hand-offs and runs were refused because the pipeline was full.
    refusals      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The hand-offs that were admitted as jobs. Their rows in `ratchet_hand_off` are finished, also for earlier versions.
CREATE TABLE ratchet_admission (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    job       BLOB    NOT NULL UNIQUE,
    pipeline  TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    handed_by BLOB    NOT NULL,
    handed_at INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    -- Whether it counts toward the backlog while its job has not ended.
    open      INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX ratchet_admission_open ON ratchet_admission (pipeline) WHERE open = 1;
CREATE INDEX ratchet_admission_latest ON ratchet_admission (pipeline, number);
