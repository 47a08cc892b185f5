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
INSERT INTO "ratchet_alert" VALUES(1,X'01A1F0FB6E917000B177C6384542A5F5','older.echo','3a330798a324bba4','as requested',1795044377604344,1);
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
INSERT INTO "ratchet_attempt" VALUES(X'01A1F0FB67647000ABE2DF2113000AD5',1,'{"run":1,"attempt":1,"generation":1,"node":"01a1f0fb-675b-7000-83b2-999566005ca9","started_at":"2026-11-18T23:26:10.276943Z","finished_at":"2026-11-18T23:26:10.278933Z","queue_wait":{"secs":0,"nanos":543000},"duration":{"secs":0,"nanos":109148},"outcome":"failure","error":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"note":null}');
INSERT INTO "ratchet_attempt" VALUES(X'01A1F0FB6E917000B177C6384542A5F5',1,'{"run":1,"attempt":1,"generation":1,"node":"01a1f0fb-675b-7000-83b2-999566005ca9","started_at":"2026-11-18T23:26:13.126455Z","finished_at":"2026-11-18T23:26:13.129202Z","queue_wait":{"secs":1,"nanos":12866000},"duration":{"secs":0,"nanos":154140},"outcome":"failure","error":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"note":null}');
INSERT INTO "ratchet_attempt" VALUES(X'01A1F0FB6E917000B177C6384542A5F5',2,'{"run":2,"attempt":2,"generation":1,"node":"01a1f0fb-675b-7000-83b2-999566005ca9","started_at":"2026-11-18T23:26:14.675953Z","finished_at":"2026-11-18T23:26:14.67866Z","queue_wait":{"secs":1,"nanos":536751000},"duration":{"secs":0,"nanos":142172},"outcome":"failure","error":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"note":null}');
INSERT INTO "ratchet_attempt" VALUES(X'01A1F0FB6E917000B177C6384542A5F5',3,'{"run":3,"attempt":3,"generation":1,"node":"01a1f0fb-675b-7000-83b2-999566005ca9","started_at":"2026-11-18T23:26:15.91747Z","finished_at":"2026-11-18T23:26:15.921163Z","queue_wait":{"secs":1,"nanos":228810000},"duration":{"secs":0,"nanos":208663},"outcome":"failure","error":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"note":null}');
INSERT INTO "ratchet_attempt" VALUES(X'01A1F0FB6E917000B177C6384542A5F5',4,'{"run":4,"attempt":4,"generation":1,"node":"01a1f0fb-675b-7000-83b2-999566005ca9","started_at":"2026-11-18T23:26:17.600458Z","finished_at":"2026-11-18T23:26:17.604344Z","queue_wait":{"secs":1,"nanos":669295000},"duration":{"secs":0,"nanos":248566},"outcome":"failure","error":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"note":null}');
INSERT INTO "ratchet_attempt" VALUES(X'01A1F0FB84077000BD3AAA687B57BEEE',1,'{"run":1,"attempt":1,"generation":1,"node":"01a1f0fb-675b-7000-83b2-999566005ca9","started_at":"2026-11-18T23:26:18.794646Z","finished_at":"2026-11-18T23:26:18.797839Z","queue_wait":{"secs":1,"nanos":186661000},"duration":{"secs":0,"nanos":174330},"outcome":"failure","error":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"note":null}');
INSERT INTO "ratchet_attempt" VALUES(X'01A1F0FB84077000BD3AAA687B57BEEE',2,'{"run":2,"attempt":2,"generation":1,"node":"01a1f0fb-675b-7000-83b2-999566005ca9","started_at":"2026-11-18T23:26:20.559006Z","finished_at":"2026-11-18T23:26:20.562062Z","queue_wait":{"secs":1,"nanos":751167000},"duration":{"secs":0,"nanos":130130},"outcome":"failure","error":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"note":null}');
INSERT INTO "ratchet_attempt" VALUES(X'01A1F0FB84077000BD3AAA687B57BEEE',3,'{"run":3,"attempt":3,"generation":1,"node":"01a1f0fb-675b-7000-83b2-999566005ca9","started_at":"2026-11-18T23:26:21.869273Z","finished_at":"2026-11-18T23:26:21.872153Z","queue_wait":{"secs":1,"nanos":297211000},"duration":{"secs":0,"nanos":134769},"outcome":"failure","error":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"note":null}');
INSERT INTO "ratchet_attempt" VALUES(X'01A1F0FB84077000BD3AAA687B57BEEE',4,'{"run":4,"attempt":4,"generation":1,"node":"01a1f0fb-675b-7000-83b2-999566005ca9","started_at":"2026-11-18T23:26:22.183195Z","finished_at":"2026-11-18T23:26:22.186436Z","queue_wait":{"secs":0,"nanos":301042000},"duration":{"secs":0,"nanos":143866},"outcome":"failure","error":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"note":null}');
CREATE TABLE ratchet_breaker (
    service TEXT    PRIMARY KEY,
    closed  INTEGER NOT NULL,
    breaker TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "ratchet_breaker" VALUES('older-service',0,'{"settings":{"failure_rate":50,"window":100,"min_calls":5,"open_for":{"secs":30,"nanos":0},"probes":3},"phase":{"Open":{"until":"2126-10-25T23:26:26.903348Z","good":0}},"window":"","opening":1,"since":"2026-11-18T23:26:26.903348Z"}');
CREATE TABLE ratchet_business (
    scoped_key BLOB PRIMARY KEY,
    job        BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "ratchet_business" VALUES(X'006F726465722D31',X'01A1F0FBA82E7000A29E4B45DC20B3E4');
CREATE TABLE ratchet_count (
    template INTEGER NOT NULL,
    state    INTEGER NOT NULL,
    jobs     INTEGER NOT NULL,
    PRIMARY KEY (template, state)
) STRICT, WITHOUT ROWID;
INSERT INTO "ratchet_count" VALUES(-7771177280618763899,0,1);
INSERT INTO "ratchet_count" VALUES(-7771177280618763899,1,0);
INSERT INTO "ratchet_count" VALUES(-7771177280618763899,2,1);
INSERT INTO "ratchet_count" VALUES(-7659391681040139163,0,0);
INSERT INTO "ratchet_count" VALUES(-7659391681040139163,1,0);
INSERT INTO "ratchet_count" VALUES(-7659391681040139163,2,1);
INSERT INTO "ratchet_count" VALUES(-6865891380865747984,0,10);
INSERT INTO "ratchet_count" VALUES(-6865891380865747984,1,0);
INSERT INTO "ratchet_count" VALUES(-6865891380865747984,2,5);
INSERT INTO "ratchet_count" VALUES(-6865891380865747984,3,1);
INSERT INTO "ratchet_count" VALUES(-6865891380865747984,4,2);
INSERT INTO "ratchet_count" VALUES(-6865891380865747984,5,1);
INSERT INTO "ratchet_count" VALUES(-5659795242529893875,0,1);
INSERT INTO "ratchet_count" VALUES(-5394123693464979155,0,2);
INSERT INTO "ratchet_count" VALUES(-5394123693464979155,1,0);
INSERT INTO "ratchet_count" VALUES(-5394123693464979155,2,1);
INSERT INTO "ratchet_count" VALUES(-2101129134407312196,0,1);
INSERT INTO "ratchet_count" VALUES(-2101129134407312196,1,0);
INSERT INTO "ratchet_count" VALUES(-2101129134407312196,2,1);
INSERT INTO "ratchet_count" VALUES(-2014560904570992969,0,0);
INSERT INTO "ratchet_count" VALUES(-2014560904570992969,1,0);
INSERT INTO "ratchet_count" VALUES(-2014560904570992969,2,1);
INSERT INTO "ratchet_count" VALUES(1836030151350969351,0,0);
INSERT INTO "ratchet_count" VALUES(1836030151350969351,1,1);
INSERT INTO "ratchet_count" VALUES(7253509822269654170,0,1);
CREATE TABLE ratchet_delivery (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    channel    INTEGER NOT NULL,
    alert      INTEGER,
    envelope   TEXT,
    held_until INTEGER
, job BLOB) STRICT;
INSERT INTO "ratchet_delivery" VALUES(1,0,1,NULL,NULL,NULL);
CREATE TABLE ratchet_edge (
    parent     BLOB    NOT NULL,
    ordinal    INTEGER NOT NULL,
    child      BLOB    NOT NULL,
    condition  TEXT    NOT NULL,
    resolution TEXT,
    PRIMARY KEY (parent, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO "ratchet_edge" VALUES(X'0001A1F0FB9C5470019ECF5425D4C78B76',0,X'0001A1F0FB9C547002871B8891E5EF4032','"success"','"fired"');
INSERT INTO "ratchet_edge" VALUES(X'0001A1F0FBA8397001ABF2E182066F6F75',0,X'0001A1F0FBA8397002A7AF7565EDAA2D17','"success"',NULL);
INSERT INTO "ratchet_edge" VALUES(X'0001A1F0FBA8397002A7AF7565EDAA2D17',0,X'0001A1F0FBA8397003BE76389A7076BA8A','"success"',NULL);
INSERT INTO "ratchet_edge" VALUES(X'0001A1F0FBA83C7001903DEB8989EA53BE',0,X'0001A1F0FBA83C7003B924D129722A97BF','"success"',NULL);
INSERT INTO "ratchet_edge" VALUES(X'0001A1F0FBA83C700283423F7CF70E86B8',0,X'0001A1F0FBA83C7003B924D129722A97BF','"success"',NULL);
INSERT INTO "ratchet_edge" VALUES(X'0101A1F0FBA3D27000B5A3FFF9833095C5',0,X'0001A1F0FBA3D270038FF7D8201B658B04','"always"','"fired"');
INSERT INTO "ratchet_edge" VALUES(X'0101A1F0FBA83F7000ACF08CD93C182CBC',0,X'0001A1F0FBA83F70049A44A47B05694CE5','"always"',NULL);
CREATE TABLE ratchet_group (
    id          BLOB PRIMARY KEY,
    owner       BLOB,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    state       TEXT NOT NULL,
    finished_at INTEGER,
    body        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "ratchet_group" VALUES(X'01A1F0FB9C5470008898B76D020B4057',NULL,'chain','older.echo','SUCCEEDED',1795044385743917,'{"id":"01a1f0fb-9c54-7000-8898-b76d020b4057","kind":"chain","name":"older.echo","owner":null,"step":null,"state":"SUCCEEDED","counts":{"total":2,"succeeded":2,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":false,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:23.830441Z","finished_at":"2026-11-18T23:26:25.743917Z"}');
INSERT INTO "ratchet_group" VALUES(X'01A1F0FBA3D27000B5A3FFF9833095C5',NULL,'batch','older-batch','SUCCEEDED',1795044386853367,'{"id":"01a1f0fb-a3d2-7000-b5a3-fff9833095c5","kind":"batch","name":"older-batch","owner":null,"step":null,"state":"SUCCEEDED","counts":{"total":2,"succeeded":2,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":true,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:25.746456Z","finished_at":"2026-11-18T23:26:26.853367Z"}');
INSERT INTO "ratchet_group" VALUES(X'01A1F0FBA83970008804AFD84556F243',NULL,'chain','older.echo','RUNNING',NULL,'{"id":"01a1f0fb-a839-7000-8804-afd84556f243","kind":"chain","name":"older.echo","owner":null,"step":null,"state":"RUNNING","counts":{"total":3,"succeeded":0,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":false,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:26.874312Z","finished_at":null}');
INSERT INTO "ratchet_group" VALUES(X'01A1F0FBA83C7000BFE7A2016C4E253E',NULL,'workflow','older-flow','RUNNING',NULL,'{"id":"01a1f0fb-a83c-7000-bfe7-a2016c4e253e","kind":"workflow","name":"older-flow","owner":null,"step":null,"state":"RUNNING","counts":{"total":3,"succeeded":0,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":false,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:26.87714Z","finished_at":null}');
INSERT INTO "ratchet_group" VALUES(X'01A1F0FBA83F7000ACF08CD93C182CBC',NULL,'batch','older-open','RUNNING',NULL,'{"id":"01a1f0fb-a83f-7000-acf0-8cd93c182cbc","kind":"batch","name":"older-open","owner":null,"step":null,"state":"RUNNING","counts":{"total":3,"succeeded":0,"failed":0,"canceled":0,"skipped":0},"sealed":true,"wait":null,"edges":true,"canceled":null,"root_cause":null,"queued_at":"2026-11-18T23:26:26.880159Z","finished_at":null}');
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
INSERT INTO "ratchet_hand_off" VALUES(1,'older-pages','page-1',X'01A1F0FB95EF70009E6B2EB034C56453','"first page"',1795044383818328,0,NULL,0);
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
INSERT INTO "ratchet_job" VALUES(1,X'01A1F0FB675C70008462FD3589EA21EA',2,0,'default',1795042570268982,1795044370268982,1795044370268982,-6865891380865747984,X'7B2274657874223A22646F6E65222C226661696C73223A307D','{"idempotency_key":"older-done","tags":["old"],"tenant":"acme"}',NULL,NULL,NULL,2,1,1,0,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044370270441,1795044370273886,1459,122153,NULL,NULL,NULL,'{"percent":50.0,"message":"half"}',NULL,'"done"',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(2,X'01A1F0FB67647000ABE2DF2113000AD5',2,0,'default',1795042570288933,1795044370288933,1795044370276400,-6865891380865747984,X'7B2274657874223A2272657472696564222C226661696C73223A317D','{"correlation_id":"trip-1"}',NULL,NULL,NULL,4,2,1,1,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044372107990,1795044372111288,1819057,120965,NULL,NULL,NULL,'{"percent":50.0,"message":"half"}',NULL,'"retried"','{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(3,X'01A1F0FB6E917000B177C6384542A5F5',3,0,'default',1795042575931163,1795044375931163,1795044372113589,-6865891380865747984,X'7B2274657874223A2264656164222C226661696C73223A397D',NULL,NULL,NULL,NULL,8,4,1,4,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044377600458,1795044377604344,1669295,248566,NULL,NULL,NULL,'{"percent":50.0,"message":"half"}',NULL,NULL,'{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true}','{"tenant":null,"job_id":"01a1f0fb-6e91-7000-b177-c6384542a5f5","execution_key":"01a1f0fb-6e91-7000-b177-c6384542a5f5:1","transition_key":"01a1f0fb-6e91-7000-b177-c6384542a5f5:0:4","correlation_id":null,"job_name":"older.echo","queue":"default","reason":"retry_exhausted","explanation":null,"failure":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"attempts":4,"binary_version":"write","node":"01a1f0fb-675b-7000-83b2-999566005ca9","at":"2026-11-18T23:26:17.604344Z"}',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(4,X'01A1F0FB84077000BD3AAA687B57BEEE',4,0,'default',1795042581882153,1795044381882153,1795044377607985,-6865891380865747984,X'7B2274657874223A227061757365642064656164222C226661696C73223A397D',NULL,NULL,NULL,NULL,9,4,1,4,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044382183195,1795044382186436,301042,143866,NULL,3,NULL,'{"percent":50.0,"message":"half"}',NULL,NULL,'{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true}','{"tenant":null,"job_id":"01a1f0fb-8407-7000-bd3a-aa687b57beee","execution_key":"01a1f0fb-8407-7000-bd3a-aa687b57beee:1","transition_key":"01a1f0fb-8407-7000-bd3a-aa687b57beee:0:4","correlation_id":null,"job_name":"older.echo","queue":"default","reason":"retry_exhausted","explanation":null,"failure":{"kind":"error","error_type":"Message","message":"as requested","code":"error","fingerprint":"3a330798a324bba4","retryable":true},"attempts":4,"binary_version":"write","node":"01a1f0fb-675b-7000-83b2-999566005ca9","at":"2026-11-18T23:26:22.186436Z"}',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(5,X'01A1F0FB95EE7000B18CF672F6AF5333',5,0,'default',4948642582190316,4948644382190316,1795044382190316,-6865891380865747984,X'7B2274657874223A2263616E63656C6564222C226661696C73223A307D',NULL,NULL,NULL,NULL,1,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,1795044382190975,NULL,NULL,NULL,NULL,'"requested"',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(6,X'01A1F0FB95EF70009E6B2EB034C56453',2,0,'default',1795042582191768,1795044382191768,1795044382191768,-7659391681040139163,X'7B7D',NULL,NULL,NULL,NULL,2,1,1,0,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044383815542,1795044383818328,1623774,236088,NULL,NULL,NULL,NULL,'7',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(7,X'01A1F0FB9C4D700087E6AECC2308995D',2,0,'default',1795042583821345,1795044383821345,1795044383821345,-2101129134407312196,X'7B2274657874223A2263616C6C6564206261636B227D','{"on_success":{"name":"older.thank","version":1,"queue":"default","priority":"normal","payload":[123,125],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}}',NULL,NULL,NULL,2,1,1,0,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044383822550,1795044383825115,1205,79243,NULL,NULL,NULL,NULL,NULL,'"called back"',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(8,X'01A1F0FB9C5070008AA88D5846297754',2,0,'default',1795042583825115,1795044383825115,1795044383825115,-2014560904570992969,X'7B7D','{"finished":{"id":"01a1f0fb-9c4d-7000-87e6-aecc2308995d","name":"older.parent","generation":1,"payload":[123,34,116,101,120,116,34,58,34,99,97,108,108,101,100,32,98,97,99,107,34,125],"attempts":1,"tags":[],"outcome":{"succeeded":"\"called back\""}}}',NULL,NULL,NULL,2,1,1,0,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044383825115,1795044383829524,0,85240,NULL,NULL,NULL,NULL,NULL,'"called back"',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(9,X'01A1F0FB9C5470019ECF5425D4C78B76',2,0,'default',1795042583830441,1795044383830441,1795044383830441,-6865891380865747984,X'7B2274657874223A22636861696E6564222C226661696C73223A307D','{"step":{"group":"01a1f0fb-9c54-7000-8898-b76d020b4057","edges":true}}',NULL,NULL,NULL,2,1,1,0,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044385733398,1795044385737090,1902957,145643,NULL,NULL,NULL,'{"percent":50.0,"message":"half"}',NULL,'"chained"',NULL,NULL,NULL,X'01A1F0FB9C5470008898B76D020B4057',1,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(10,X'01A1F0FB9C547002871B8891E5EF4032',2,0,'default',1795042585737090,1795044385737090,1795044383830441,-5394123693464979155,X'7B7D','{"step":{"group":"01a1f0fb-9c54-7000-8898-b76d020b4057","number":1,"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"inputs":[{"name":null,"from":["01a1f0fb-9c54-7001-9ecf-5425d4c78b76"]}]}}',NULL,NULL,NULL,3,1,1,0,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044385737090,1795044385743917,0,976090,NULL,NULL,NULL,NULL,NULL,'"chained!"',NULL,NULL,NULL,X'01A1F0FB9C5470008898B76D020B4057',0,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(11,X'01A1F0FBA3D27001BFBF2E64EDB6EE8B',2,0,'default',1795042585746456,1795044385746456,1795044385746456,-6865891380865747984,X'7B2274657874223A2261222C226661696C73223A307D','{"step":{"group":"01a1f0fb-a3d2-7000-b5a3-fff9833095c5"}}',NULL,NULL,NULL,2,1,1,0,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044386846306,1795044386849662,1099850,126908,NULL,NULL,NULL,'{"percent":50.0,"message":"half"}',NULL,'"a"',NULL,NULL,NULL,X'01A1F0FBA3D27000B5A3FFF9833095C5',0,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(12,X'01A1F0FBA3D27002B970AE31DCED29A6',2,0,'default',1795042585746456,1795044385746456,1795044385746456,-6865891380865747984,X'7B2274657874223A2262222C226661696C73223A307D','{"step":{"group":"01a1f0fb-a3d2-7000-b5a3-fff9833095c5","number":1}}',NULL,NULL,NULL,2,1,1,0,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044386849662,1795044386853367,1103206,114144,NULL,NULL,NULL,'{"percent":50.0,"message":"half"}',NULL,'"b"',NULL,NULL,NULL,X'01A1F0FBA3D27000B5A3FFF9833095C5',0,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(13,X'01A1F0FBA3D270038FF7D8201B658B04',2,0,'default',1795042586853367,1795044386853367,1795044385746456,-7771177280618763899,X'7B7D','{"step":{"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"reports":"01a1f0fb-a3d2-7000-b5a3-fff9833095c5"}}',NULL,NULL,NULL,3,1,1,0,0,0,X'01A1F0FB675B700083B2999566005CA9',NULL,NULL,NULL,1795044386857012,1795044386860596,3645,1050194,NULL,NULL,NULL,NULL,NULL,'2',NULL,NULL,NULL,NULL,0,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(14,X'01A1F0FBA82E7000A29E4B45DC20B3E4',0,1,'default',1795041686863062,1795044386863062,1795044386863062,-5659795242529893875,X'7B2274657874223A2277616974696E67222C226661696C73223A307D','{"business_key":"order-1"}',X'006F726465722D31',NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(15,X'01A1F0FBA8307000BBF0F2FCD52A56AA',0,1,'default',1795042586865051,1795044386865051,1795044386865051,-6865891380865747984,X'7B2274657874223A22746167676564222C226661696C73223A307D','{"tags":["a","b"],"tenant":"acme"}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(16,X'01A1F0FBA8327000BD959C4153452B66',0,0,'default',4948642586866629,4948644386866629,1795044386866629,-6865891380865747984,X'7B2274657874223A226C61746572222C226661696C73223A307D',NULL,NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(17,X'01A1F0FBA833700088FDFD21F4E3D50A',4,0,'default',1795042586868576,1795044386868576,1795044386868576,-6865891380865747984,X'7B2274657874223A22706175736564222C226661696C73223A307D',NULL,NULL,NULL,NULL,1,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(18,X'01A1F0FBA8367000BAC079A71EDD3B38',0,1,'default',1795042586871364,1795044386871364,1795044386871364,-6865891380865747984,X'7B2274657874223A226F6E6520617420612074696D65222C226661696C73223A307D',NULL,NULL,'one',1,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(19,X'01A1F0FBA8387000B4839F218EEE436C',0,1,'default',1795042586872287,1795044386872287,1795044386872287,-6865891380865747984,X'7B2274657874223A226F6E6520617420612074696D65222C226661696C73223A307D',NULL,NULL,'one',1,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(20,X'01A1F0FBA8397001ABF2E182066F6F75',0,1,'default',1795042586874312,1795044386874312,1795044386874312,-6865891380865747984,X'7B2274657874223A22636861696E222C226661696C73223A307D','{"step":{"group":"01a1f0fb-a839-7000-8804-afd84556f243","edges":true}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBA83970008804AFD84556F243',1,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(21,X'01A1F0FBA8397002A7AF7565EDAA2D17',0,3,'default',1795042586874312,1795044386874312,1795044386874312,-5394123693464979155,X'7B7D','{"step":{"group":"01a1f0fb-a839-7000-8804-afd84556f243","number":1,"edges":true,"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"inputs":[{"name":null,"from":["01a1f0fb-a839-7001-abf2-e182066f6f75"]}]}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBA83970008804AFD84556F243',1,'{"mode":"all","edges":1,"fired":0,"dead":0}',NULL);
INSERT INTO "ratchet_job" VALUES(22,X'01A1F0FBA8397003BE76389A7076BA8A',0,3,'default',1795042586874312,1795044386874312,1795044386874312,-5394123693464979155,X'7B7D','{"step":{"group":"01a1f0fb-a839-7000-8804-afd84556f243","number":2,"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"inputs":[{"name":null,"from":["01a1f0fb-a839-7002-a7af-7565edaa2d17"]}]}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBA83970008804AFD84556F243',0,'{"mode":"all","edges":1,"fired":0,"dead":0}',NULL);
INSERT INTO "ratchet_job" VALUES(23,X'01A1F0FBA83C7001903DEB8989EA53BE',0,1,'default',1795042586877140,1795044386877140,1795044386877140,-6865891380865747984,X'7B2274657874223A226C222C226661696C73223A307D','{"step":{"group":"01a1f0fb-a83c-7000-bfe7-a2016c4e253e","name":"left","edges":true}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBA83C7000BFE7A2016C4E253E',1,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(24,X'01A1F0FBA83C700283423F7CF70E86B8',0,1,'default',1795042586877140,1795044386877140,1795044386877140,-6865891380865747984,X'7B2274657874223A2272222C226661696C73223A307D','{"step":{"group":"01a1f0fb-a83c-7000-bfe7-a2016c4e253e","name":"right","number":1,"edges":true}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBA83C7000BFE7A2016C4E253E',1,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(25,X'01A1F0FBA83C7003B924D129722A97BF',0,3,'default',1795042586877140,1795044386877140,1795044386877140,7253509822269654170,X'7B7D','{"step":{"group":"01a1f0fb-a83c-7000-bfe7-a2016c4e253e","name":"join","number":2,"wait":{"mode":"all","edges":2,"fired":0,"dead":0},"inputs":[{"name":"left","from":["01a1f0fb-a83c-7001-903d-eb8989ea53be"]},{"name":"right","from":["01a1f0fb-a83c-7002-8342-3f7cf70e86b8"]}]}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBA83C7000BFE7A2016C4E253E',0,'{"mode":"all","edges":2,"fired":0,"dead":0}',NULL);
INSERT INTO "ratchet_job" VALUES(26,X'01A1F0FBA83F7001BDC3F91AB02867DA',0,1,'default',1795042586880159,1795044386880159,1795044386880159,-6865891380865747984,X'7B2274657874223A2263222C226661696C73223A307D','{"step":{"group":"01a1f0fb-a83f-7000-acf0-8cd93c182cbc"}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBA83F7000ACF08CD93C182CBC',0,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(27,X'01A1F0FBA83F7002A127D38BDA690617',0,1,'default',1795042586880159,1795044386880159,1795044386880159,-6865891380865747984,X'7B2274657874223A2264222C226661696C73223A307D','{"step":{"group":"01a1f0fb-a83f-7000-acf0-8cd93c182cbc","number":1}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBA83F7000ACF08CD93C182CBC',0,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(28,X'01A1F0FBA83F70038AB46F8938D73CDE',0,1,'default',1795042586880159,1795044386880159,1795044386880159,-6865891380865747984,X'7B2274657874223A2265222C226661696C73223A307D','{"step":{"group":"01a1f0fb-a83f-7000-acf0-8cd93c182cbc","number":2}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'01A1F0FBA83F7000ACF08CD93C182CBC',0,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(29,X'01A1F0FBA83F70049A44A47B05694CE5',0,3,'default',1795042586880159,1795044386880159,1795044386880159,-7771177280618763899,X'7B7D','{"step":{"wait":{"mode":"all","edges":1,"fired":0,"dead":0},"reports":"01a1f0fb-a83f-7000-acf0-8cd93c182cbc"}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,'{"mode":"all","edges":1,"fired":0,"dead":0}',NULL);
INSERT INTO "ratchet_job" VALUES(30,X'01A1F0FBA841700099A9888DB9929757',0,1,'default',1795042586882091,1795044386882091,1795044386882091,-2101129134407312196,X'7B2274657874223A2263616C6C73206261636B206C61746572227D','{"on_success":{"name":"older.thank","version":1,"queue":"default","priority":"normal","payload":[123,125],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}}',NULL,NULL,NULL,0,0,1,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "ratchet_job" VALUES(31,X'01A1F0FBA8597000B5A065C724F25A3E',1,0,'stuck',1795042586906030,1795044386906030,1795044386906030,1836030151350969351,X'7B7D',NULL,NULL,NULL,NULL,1,1,1,0,0,0,X'01A1F0FB675B700083B2999566005CA9',X'AEF730AF589ECE194BA9D0D290A9DEAF',1,NULL,1795044390321072,NULL,3415042,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE ratchet_leader (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    node        BLOB    NOT NULL,
    lease_until INTEGER NOT NULL
) STRICT;
INSERT INTO "ratchet_leader" VALUES(1,X'01A1F0FB675B700083B2999566005CA9',1795044491101261);
CREATE TABLE ratchet_ledger (
    scoped_key BLOB PRIMARY KEY,
    job        BLOB NOT NULL,
    name       TEXT NOT NULL,
    digest     BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "ratchet_ledger" VALUES(X'01000000000000000461636D656F6C6465722D646F6E65',X'01A1F0FB675C70008462FD3589EA21EA','older.echo',X'81415742A5330FEF510FE5A38C1FAB69277359FE1B0F0419FA7E333CB81340C2');
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
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB675C70008462FD3589EA21EA',1,'{"after":{"secs":0,"nanos":175074},"level":"info","message":"attempt 1","run":1}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB67647000ABE2DF2113000AD5',1,'{"after":{"secs":0,"nanos":224607},"level":"info","message":"attempt 1","run":1}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB67647000ABE2DF2113000AD5',2,'{"after":{"secs":0,"nanos":214370},"level":"info","message":"attempt 2","run":2}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB6E917000B177C6384542A5F5',1,'{"after":{"secs":0,"nanos":237535},"level":"info","message":"attempt 1","run":1}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB6E917000B177C6384542A5F5',2,'{"after":{"secs":0,"nanos":286436},"level":"info","message":"attempt 2","run":2}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB6E917000B177C6384542A5F5',3,'{"after":{"secs":0,"nanos":246058},"level":"info","message":"attempt 3","run":3}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB6E917000B177C6384542A5F5',4,'{"after":{"secs":0,"nanos":378806},"level":"info","message":"attempt 4","run":4}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB84077000BD3AAA687B57BEEE',1,'{"after":{"secs":0,"nanos":323631},"level":"info","message":"attempt 1","run":1}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB84077000BD3AAA687B57BEEE',2,'{"after":{"secs":0,"nanos":235416},"level":"info","message":"attempt 2","run":2}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB84077000BD3AAA687B57BEEE',3,'{"after":{"secs":0,"nanos":138228},"level":"info","message":"attempt 3","run":3}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB84077000BD3AAA687B57BEEE',4,'{"after":{"secs":0,"nanos":194962},"level":"info","message":"attempt 4","run":4}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FB9C5470019ECF5425D4C78B76',1,'{"after":{"secs":0,"nanos":220748},"level":"info","message":"attempt 1","run":1}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FBA3D27001BFBF2E64EDB6EE8B',1,'{"after":{"secs":0,"nanos":229630},"level":"info","message":"attempt 1","run":1}');
INSERT INTO "ratchet_log" VALUES(X'01A1F0FBA3D27002B970AE31DCED29A6',1,'{"after":{"secs":0,"nanos":185853},"level":"info","message":"attempt 1","run":1}');
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
INSERT INTO "ratchet_node" VALUES(X'01A1F0FB675B700083B2999566005CA9','vm',20193,'write','["default","stuck"]','{"older.echo":1,"older.items":1,"older.join":1,"older.next":1,"older.parent":1,"older.report":1,"older.stuck":1,"older.thank":1,"older.tick":1,"proof.first":1,"proof.next":1,"proof.work":1}',1795044370267935,1795044405277471);
CREATE TABLE ratchet_queue (
    name    TEXT    PRIMARY KEY,
    -- Whether the end of a run makes room.
    limited INTEGER NOT NULL,
    rules   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "ratchet_queue" VALUES('default',0,'{"paused":true,"limits":{"concurrency":null,"rate":null},"recent":[]}');
INSERT INTO "ratchet_queue" VALUES('limited',1,'{"paused":false,"limits":{"concurrency":4,"rate":null},"recent":[]}');
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
INSERT INTO "ratchet_reject" VALUES(X'01A1F0FB95EF70009E6B2EB034C56453',7,'older.items','Message','b8a9f44456f1d093',1795044383818328,'{"job":"01a1f0fb-95ef-7000-9e6b-2eb034c56453","job_name":"older.items","run":1,"at":"2026-11-18T23:26:23.818328Z","index":7,"error_type":"Message","message":"not a number","fingerprint":"b8a9f44456f1d093","payload":"\"seven\""}');
CREATE TABLE ratchet_schedule (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    next    INTEGER,
    paused  INTEGER NOT NULL,
    body    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "ratchet_schedule" VALUES('older-paused',2,1798761600000000,1,'{"name":"older-paused","spec":{"name":"older.tick","version":1,"queue":"default","priority":"normal","payload":[123,125],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}},"expression":"0 0 0 1 1 *","zone":"UTC","missed":"fire_once","next":"2027-01-01T00:00:00Z","last":null,"paused":true,"version":1}');
INSERT INTO "ratchet_schedule" VALUES('older-tick',1,1795051800000000,0,'{"name":"older-tick","spec":{"name":"older.tick","version":1,"queue":"default","priority":"normal","payload":[123,125],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}},"expression":"0 30 2 * * *","zone":"Europe/Berlin","missed":"fire_once","next":"2026-11-19T01:30:00Z","last":null,"paused":false,"version":0}');
CREATE TABLE ratchet_schema (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;
INSERT INTO "ratchet_schema" VALUES(1,1795044370253041);
INSERT INTO "ratchet_schema" VALUES(2,1795044370253041);
INSERT INTO "ratchet_schema" VALUES(3,1795044370253041);
INSERT INTO "ratchet_schema" VALUES(4,1795044370253041);
CREATE TABLE ratchet_template (
    id      INTEGER PRIMARY KEY,
    queue   TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL
) STRICT;
INSERT INTO "ratchet_template" VALUES(-7771177280618763899,'default','older.report',1,'{"name":"older.report","version":1,"queue":"default","priority":"normal","payload":[],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
INSERT INTO "ratchet_template" VALUES(-7659391681040139163,'default','older.items',1,'{"name":"older.items","version":1,"queue":"default","priority":"normal","payload":[],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
INSERT INTO "ratchet_template" VALUES(-6865891380865747984,'default','older.echo',1,'{"name":"older.echo","version":1,"queue":"default","priority":"normal","payload":[],"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
INSERT INTO "ratchet_template" VALUES(-5659795242529893875,'default','older.echo',1,'{"name":"older.echo","version":1,"queue":"default","priority":"high","payload":[],"options":{"max_retries":3,"backoff":{"kind":{"fixed":{"delay":{"secs":0,"nanos":10000000}}},"jitter":"none"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
INSERT INTO "ratchet_template" VALUES(-5394123693464979155,'default','older.next',1,'{"name":"older.next","version":1,"queue":"default","priority":"normal","payload":[],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
INSERT INTO "ratchet_template" VALUES(-2101129134407312196,'default','older.parent',1,'{"name":"older.parent","version":1,"queue":"default","priority":"normal","payload":[],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
INSERT INTO "ratchet_template" VALUES(-2014560904570992969,'default','older.thank',1,'{"name":"older.thank","version":1,"queue":"default","priority":"normal","payload":[],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
INSERT INTO "ratchet_template" VALUES(1836030151350969351,'stuck','older.stuck',1,'{"name":"older.stuck","version":1,"queue":"stuck","priority":"normal","payload":[],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
INSERT INTO "ratchet_template" VALUES(7253509822269654170,'default','older.join',1,'{"name":"older.join","version":1,"queue":"default","priority":"normal","payload":[],"options":{"max_retries":5,"backoff":{"kind":{"exponential":{"base":{"secs":1,"nanos":0},"factor":2.0,"max":{"secs":30,"nanos":0}}},"jitter":"equal"},"timeout":{"secs":1800,"nanos":0},"soft_timeout":null,"panic":"retry"},"business_key":null,"idempotency_key":null,"concurrency":null,"service":null,"tags":[],"tenant":null,"correlation_id":null,"on_success":null,"on_failure":null,"finished":null,"boost":{"secs":900,"nanos":0}}');
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
INSERT INTO "sqlite_sequence" VALUES('ratchet_delivery',1);
INSERT INTO "sqlite_sequence" VALUES('ratchet_hand_off',1);
COMMIT;
