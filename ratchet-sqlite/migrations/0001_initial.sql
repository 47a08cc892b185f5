-- Everything the store keeps. Times are microseconds since 1970, ids are 16 bytes, JSON is text.
-- States: 0 PENDING, 1 RUNNING, 2 SUCCEEDED, 3 FAILED, 4 PAUSED, 5 CANCELED.

-- What jobs have in common: name, queue and options. One row per combination, named by the hash of its body.
CREATE TABLE ratchet_template (
    id      INTEGER PRIMARY KEY,
    queue   TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL
) STRICT;
CREATE INDEX ratchet_template_queue ON ratchet_template (queue);

CREATE TABLE ratchet_job (
    seq         INTEGER PRIMARY KEY,
    id          BLOB    NOT NULL,
    state       INTEGER NOT NULL,
    -- For a pending job: 0 not due yet, 1 in line for the claim, 2 set aside because a claim could not run it.
    ready       INTEGER NOT NULL,
    queue       TEXT    NOT NULL,
    sort_key    INTEGER NOT NULL,
    due         INTEGER NOT NULL,
    queued_at   INTEGER NOT NULL,
    template    INTEGER NOT NULL,
    payload     BLOB    NOT NULL,
    -- What only this job has: keys, tags, tenant, callbacks.
    own         TEXT,
    -- The business key within its tenant, as in ratchet_business.
    scoped_key  BLOB,
    slot_key    TEXT,
    slot_limit  INTEGER,
    fence       INTEGER NOT NULL DEFAULT 0,
    run         INTEGER NOT NULL DEFAULT 0,
    generation  INTEGER NOT NULL DEFAULT 1,
    attempts    INTEGER NOT NULL DEFAULT 0,
    crashes     INTEGER NOT NULL DEFAULT 0,
    deferrals   INTEGER NOT NULL DEFAULT 0,
    -- The latest run. Its line of the history is these columns if it succeeded, and a row of ratchet_attempt if not.
    node        BLOB,
    lease       BLOB,
    handler_started INTEGER,
    -- The opening of its service's breaker that it is a probe of: 'service/opening'.
    probe       TEXT,
    started_at  INTEGER,
    finished_at INTEGER,
    queue_wait  INTEGER,
    -- Nanoseconds.
    duration    INTEGER,
    lane        INTEGER,
    paused_from INTEGER,
    canceled    TEXT,
    progress    TEXT,
    checkpoint  TEXT,
    output      TEXT,
    error       TEXT,
    envelope    TEXT,
    warnings    TEXT
) STRICT;
CREATE UNIQUE INDEX ratchet_job_id ON ratchet_job (id);
-- The claim reads this one from its start: neither finished, nor future, nor paused jobs are in it.
CREATE INDEX ratchet_job_line ON ratchet_job (queue, sort_key, due, id) WHERE state = 0 AND ready = 1;
CREATE INDEX ratchet_job_future ON ratchet_job (template, due) WHERE state = 0 AND ready = 0;
CREATE INDEX ratchet_job_aside ON ratchet_job (lane, sort_key, due, id) WHERE state = 0 AND ready = 2;
CREATE INDEX ratchet_job_running ON ratchet_job (node, id) WHERE state = 1;
CREATE INDEX ratchet_job_slot ON ratchet_job (slot_key) WHERE state = 1 AND slot_key IS NOT NULL;
CREATE INDEX ratchet_job_probe ON ratchet_job (probe) WHERE state = 1 AND probe IS NOT NULL;
CREATE INDEX ratchet_job_finished ON ratchet_job (state, finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX ratchet_job_failed ON ratchet_job (id) WHERE state = 3;

-- How many jobs, kept by every transaction that moves one.
CREATE TABLE ratchet_count (
    template INTEGER NOT NULL,
    state    INTEGER NOT NULL,
    jobs     INTEGER NOT NULL,
    PRIMARY KEY (template, state)
) STRICT, WITHOUT ROWID;

-- Which lanes have jobs set aside, and whether because a claimer did not know their name.
CREATE TABLE ratchet_aside (
    lane       INTEGER PRIMARY KEY,
    queue      TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    slot_key   TEXT,
    slot_limit INTEGER,
    service    TEXT,
    unknown    INTEGER NOT NULL
) STRICT;
CREATE INDEX ratchet_aside_unknown ON ratchet_aside (queue) WHERE unknown = 1 OR service IS NOT NULL;
CREATE INDEX ratchet_aside_slot ON ratchet_aside (slot_key) WHERE slot_key IS NOT NULL;

-- Idempotency keys, for ever.
CREATE TABLE ratchet_ledger (
    scoped_key BLOB PRIMARY KEY,
    job        BLOB NOT NULL,
    name       TEXT NOT NULL,
    digest     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Who holds which business key.
CREATE TABLE ratchet_business (
    scoped_key BLOB PRIMARY KEY,
    job        BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Runs that are over while their handlers may still be running: they keep what they hold.
CREATE TABLE ratchet_lingering (
    job      BLOB    NOT NULL,
    lease    BLOB    NOT NULL,
    fence    INTEGER NOT NULL,
    node     BLOB    NOT NULL,
    canceled INTEGER NOT NULL,
    slot_key TEXT,
    queue    TEXT    NOT NULL,
    probe    TEXT,
    PRIMARY KEY (job, lease, fence)
) STRICT, WITHOUT ROWID;
CREATE INDEX ratchet_lingering_node ON ratchet_lingering (node);
CREATE INDEX ratchet_lingering_slot ON ratchet_lingering (slot_key) WHERE slot_key IS NOT NULL;

-- Queues that are paused or limited. The rules are JSON.
CREATE TABLE ratchet_queue (
    name    TEXT    PRIMARY KEY,
    -- Whether the end of a run makes room.
    limited INTEGER NOT NULL,
    rules   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- Circuit breakers, as JSON.
CREATE TABLE ratchet_breaker (
    service TEXT    PRIMARY KEY,
    closed  INTEGER NOT NULL,
    breaker TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ratchet_breaker_open ON ratchet_breaker (closed) WHERE closed = 0;

CREATE TABLE ratchet_attempt (
    job  BLOB    NOT NULL,
    run  INTEGER NOT NULL,
    line TEXT    NOT NULL,
    PRIMARY KEY (job, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE ratchet_log (
    job    BLOB    NOT NULL,
    number INTEGER NOT NULL,
    line   TEXT    NOT NULL,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE ratchet_node (
    id             BLOB PRIMARY KEY,
    host           TEXT    NOT NULL,
    pid            INTEGER NOT NULL,
    binary_version TEXT    NOT NULL,
    queues         TEXT    NOT NULL,
    known          TEXT    NOT NULL,
    joined_at      INTEGER NOT NULL,
    lease_until    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- At most one row.
CREATE TABLE ratchet_leader (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    node        BLOB    NOT NULL,
    lease_until INTEGER NOT NULL
) STRICT;

CREATE TABLE ratchet_alert (
    number      INTEGER PRIMARY KEY,
    job         BLOB    NOT NULL,
    name        TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    message     TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    suppressed  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX ratchet_alert_kind ON ratchet_alert (name, fingerprint, number);

-- What waits to be published. Numbers are never used twice.
CREATE TABLE ratchet_delivery (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    channel    INTEGER NOT NULL,
    alert      INTEGER,
    envelope   TEXT,
    held_until INTEGER
) STRICT;
CREATE INDEX ratchet_delivery_channel ON ratchet_delivery (channel, number);
