PRAGMA application_id = 0;
PRAGMA user_version = 0;
BEGIN TRANSACTION;
CREATE TABLE ratchet_alert (
    number      INTEGER PRIMARY KEY,
    job         BLOB    NOT NULL,
    name        TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    message     TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    suppressed  INTEGER NOT NULL DEFAULT 0
) STRICT;
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
CREATE TABLE ratchet_attempt (
    job  BLOB    NOT NULL,
    run  INTEGER NOT NULL,
    line TEXT    NOT NULL,
    PRIMARY KEY (job, run)
) STRICT, WITHOUT ROWID;
CREATE TABLE ratchet_breaker (
    service TEXT    PRIMARY KEY,
    closed  INTEGER NOT NULL,
    breaker TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE ratchet_business (
    scoped_key BLOB PRIMARY KEY,
    job        BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE ratchet_count (
    template INTEGER NOT NULL,
    state    INTEGER NOT NULL,
    jobs     INTEGER NOT NULL,
    PRIMARY KEY (template, state)
) STRICT, WITHOUT ROWID;
INSERT INTO "ratchet_count" VALUES(-3757146272771816725,0,1);
INSERT INTO "ratchet_count" VALUES(8663025033244812942,0,6);
INSERT INTO "ratchet_count" VALUES(8903745512056008400,0,2);
CREATE TABLE ratchet_delivery (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    channel    INTEGER NOT NULL,
    alert      INTEGER,
    envelope   TEXT,
    held_until INTEGER
, job BLOB) STRICT;
CREATE TABLE ratchet_edge (
    parent     BLOB    NOT NULL,
    ordinal    INTEGER NOT NULL,
    child      BLOB    NOT NULL,
    condition  TEXT    NOT NULL,
    resolution TEXT,
    PRIMARY KEY (parent, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO "ratchet_edge" VALUES(X'0001A1F0FBB6EB7002AC7F0104800E6121',0,X'0001A1F0FBB6EB7003BAE02BFF0530B650','"success"',NULL);
INSERT INTO "ratchet_edge" VALUES(X'0001A1F0FBB6EB7003BAE02BFF0530B650',0,X'0001A1F0FBB6EB700490D6FFB70D35D086','"success"',NULL);
CREATE TABLE ratchet_group (
    id          BLOB PRIMARY KEY,
    owner       BLOB,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    state       TEXT NOT NULL,
    finished_at INTEGER,
    body        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "ratchet_group" VALUES(X'01A1F0FBB6EB70018650048F14BC7A90',NULL,'chain','proof.first','RUNNING',NULL,'{"id":"01a1f0fb-b6eb-7001-8650-048f14bc7a90","kind":"chain","name":"proof.first","owner":null,"step":null,"state":"RUNNING","counts":{"total":3,"succeeded":0,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":false,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:30.636128Z","finished_at":null}');
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
, grp BLOB, linked INTEGER, wait TEXT, root_cause TEXT) STRICT;
INSERT INTO "ratchet_job" VALUES(1,X'01A1F0FBB6E57000ADED69E09996990F',0,1,'default',1795042590629776,1795044390629776,1795044390629776,8663025033244812942,X'7B226E6170223A31302C226661696C73223A307D',NULL,NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(2,X'01A1F0FBB6E87000838A73A14B8E54F2',0,1,'default',1795042590632376,1795044390632376,1795044390632376,8663025033244812942,X'7B226E6170223A31302C226661696C73223A307D',NULL,NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(3,X'01A1F0FBB6E970009F6098F70D00F2E0',0,1,'default',1795042590633197,1795044390633197,1795044390633197,8663025033244812942,X'7B226E6170223A31302C226661696C73223A307D',NULL,NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(4,X'01A1F0FBB6E9700185523638CE2D95C0',0,1,'default',1795042590633972,1795044390633972,1795044390633972,8663025033244812942,X'7B226E6170223A31302C226661696C73223A307D',NULL,NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(5,X'01A1F0FBB6EA70009698ED99FA281B9A',0,1,'default',1795042590634585,1795044390634585,1795044390634585,8663025033244812942,X'7B226E6170223A31302C226661696C73223A307D',NULL,NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(6,X'01A1F0FBB6EB7000800C0C34B5D166C4',0,1,'default',1795042590635131,1795044390635131,1795044390635131,8663025033244812942,X'7B226E6170223A31302C226661696C73223A307D',NULL,NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(7,X'01A1F0FBB6EB7002AC7F0104800E6121',0,1,'default',1795042590636128,1795044390636128,1795044390636128,-3757146272771816725,X'7B2266726F6D223A317D','{"step":{"group":"01a1f0fb-b6eb-7001-8650-048f14bc7a90","edges":true}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBB6EB70018650048F14BC7A90',1,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(8,X'01A1F0FBB6EB7003BAE02BFF0530B650',0,3,'default',1795042590636128,1795044390636128,1795044390636128,8903745512056008400,X'7B7D','{"step":{"group":"01a1f0fb-b6eb-7001-8650-048f14bc7a90","number":1,"edges":true,"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"inputs":[{"name":null,"from":["01a1f0fb-b6eb-7002-ac7f-0104800e6121"]}]}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBB6EB70018650048F14BC7A90',1,'{"mode":"all","edges":1,"fired":0,"dead":0}',NULL);
INSERT INTO "ratchet_job" VALUES(9,X'01A1F0FBB6EB700490D6FFB70D35D086',0,3,'default',1795042590636128,1795044390636128,1795044390636128,8903745512056008400,X'7B7D','{"step":{"group":"01a1f0fb-b6eb-7001-8650-048f14bc7a90","number":2,"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"inputs":[{"name":null,"from":["01a1f0fb-b6eb-7003-bae0-2bff0530b650"]}]}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBB6EB70018650048F14BC7A90',0,'{"mode":"all","edges":1,"fired":0,"dead":0}',NULL);
CREATE TABLE ratchet_leader (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    node        BLOB    NOT NULL,
    lease_until INTEGER NOT NULL
) STRICT;
CREATE TABLE ratchet_ledger (
    scoped_key BLOB PRIMARY KEY,
    job        BLOB NOT NULL,
    name       TEXT NOT NULL,
    digest     BLOB NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE ratchet_queue (
    name    TEXT    PRIMARY KEY,
    -- Whether the end of a run makes room.
    limited INTEGER NOT NULL,
    rules   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE ratchet_schedule (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    next    INTEGER,
    paused  INTEGER NOT NULL,
    body    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE ratchet_schema (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;
INSERT INTO "ratchet_schema" VALUES(1,1795044390611905);
INSERT INTO "ratchet_schema" VALUES(2,1795044390611905);
INSERT INTO "ratchet_schema" VALUES(3,1795044390611905);
INSERT INTO "ratchet_schema" VALUES(4,1795044390611905);
CREATE TABLE ratchet_template (
    id      INTEGER PRIMARY KEY,
    queue   TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL
) STRICT;
INSERT INTO "ratchet_template" VALUES(-3757146272771816725,'default','proof.first',1,'{"name":"proof.first","version":1,"queue":"default","priority":"normal","payload":[],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
INSERT INTO "ratchet_template" VALUES(8663025033244812942,'default','proof.work',1,'{"name":"proof.work","version":1,"queue":"default","priority":"normal","payload":[],"options":{"max_retries":5,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":50000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
INSERT INTO "ratchet_template" VALUES(8903745512056008400,'default','proof.next',1,'{"name":"proof.next","version":1,"queue":"default","priority":"normal","payload":[],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
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
CREATE INDEX ratchet_template_queue ON ratchet_template (queue);
CREATE UNIQUE INDEX ratchet_job_id ON ratchet_job (id);
CREATE INDEX ratchet_job_line ON ratchet_job (queue, sort_key, due, id) WHERE state = 0 AND ready = 1;
CREATE INDEX ratchet_job_future ON ratchet_job (template, due) WHERE state = 0 AND ready = 0;
CREATE INDEX ratchet_job_aside ON ratchet_job (lane, sort_key, due, id) WHERE state = 0 AND ready = 2;
CREATE INDEX ratchet_job_running ON ratchet_job (node, id) WHERE state = 1;
CREATE INDEX ratchet_job_slot ON ratchet_job (slot_key) WHERE state = 1 AND slot_key IS NOT NULL;
CREATE INDEX ratchet_job_probe ON ratchet_job (probe) WHERE state = 1 AND probe IS NOT NULL;
CREATE INDEX ratchet_job_finished ON ratchet_job (state, finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX ratchet_job_failed ON ratchet_job (id) WHERE state = 3;
CREATE INDEX ratchet_aside_unknown ON ratchet_aside (queue) WHERE unknown = 1 OR service IS NOT NULL;
CREATE INDEX ratchet_aside_slot ON ratchet_aside (slot_key) WHERE slot_key IS NOT NULL;
CREATE INDEX ratchet_lingering_node ON ratchet_lingering (node);
CREATE INDEX ratchet_lingering_slot ON ratchet_lingering (slot_key) WHERE slot_key IS NOT NULL;
CREATE INDEX ratchet_breaker_open ON ratchet_breaker (closed) WHERE closed = 0;
CREATE INDEX ratchet_alert_kind ON ratchet_alert (name, fingerprint, number);
CREATE INDEX ratchet_delivery_channel ON ratchet_delivery (channel, number);
CREATE INDEX ratchet_job_grp ON ratchet_job (grp, id) WHERE grp IS NOT NULL;
CREATE INDEX ratchet_group_owner ON ratchet_group (owner, id);
CREATE INDEX ratchet_group_finished ON ratchet_group (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX ratchet_schedule_next ON ratchet_schedule (next) WHERE paused = 0 AND next IS NOT NULL;
CREATE INDEX ratchet_reject_kind ON ratchet_reject (job_name, error_type, fingerprint);
CREATE UNIQUE INDEX ratchet_hand_off_key ON ratchet_hand_off (pipeline, key);
CREATE INDEX ratchet_hand_off_waiting ON ratchet_hand_off (pipeline, number) WHERE finished = 0;
CREATE INDEX ratchet_delivery_job ON ratchet_delivery (job, number) WHERE job IS NOT NULL;
CREATE UNIQUE INDEX ratchet_unreadable_id ON ratchet_unreadable (id);
DELETE FROM "sqlite_sequence";
COMMIT;
