-- Times are microseconds since 1970 by the clock of this database; durations are microseconds.
-- States of an outcome: 2 succeeded, 3 failed, 5 canceled (the order of `JobState`).

-- The clock of the store. Tests replace it by one they can move.
CREATE FUNCTION ratchet.now_micros() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL SAFE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- What was submitted. Written once, never changed.
CREATE TABLE ratchet.job (
    id uuid PRIMARY KEY,
    queued_at bigint NOT NULL,
    -- When it was first due.
    due bigint NOT NULL,
    -- How far before its due time the job sorts: its priority times the boost interval.
    head bigint NOT NULL,
    version integer NOT NULL,
    climit integer,
    priority smallint NOT NULL,
    name text NOT NULL,
    queue text NOT NULL,
    payload bytea NOT NULL,
    business_key text,
    idempotency_key text,
    ckey text,
    service text,
    tenant text,
    correlation_id text,
    tags jsonb,
    -- Options, callbacks and the finished parent as JSON, unless all of them are at their defaults.
    extra text
) PARTITION BY RANGE (id);

-- Jobs that are due. A claim deletes its rows.
CREATE TABLE ratchet.ready (
    job uuid NOT NULL,
    sort_key bigint NOT NULL,
    due bigint NOT NULL,
    -- The fence: grows by one with every move.
    version bigint NOT NULL,
    run bigint NOT NULL,
    job_version integer NOT NULL,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    deferrals integer NOT NULL,
    generation integer NOT NULL,
    climit integer,
    -- Whether the job has a business key or a concurrency key.
    keyed boolean NOT NULL,
    queue text NOT NULL,
    name text NOT NULL,
    ckey text,
    -- The service whose breaker may hold it back.
    service text
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX ready_order ON ratchet.ready (queue, sort_key, due, job);
-- A job that has not moved yet stands where its submit has put it, and is found there. So most jobs are in one index.
CREATE UNIQUE INDEX ready_moved ON ratchet.ready (job) WHERE version > 0;

-- Jobs that fall due later. A claim that finds them due moves them to `ready`.
CREATE TABLE ratchet.scheduled (LIKE ratchet.ready)
    WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX scheduled_job ON ratchet.scheduled (job);
CREATE INDEX scheduled_order ON ratchet.scheduled (queue, due, job);

-- Jobs set aside. Those that had failed keep their outcome beside this row.
CREATE TABLE ratchet.paused (LIKE ratchet.ready, failed boolean NOT NULL, PRIMARY KEY (job));

-- Claimed batches, one row each. A member has left when its version is 0 or its job has an outcome. What is left out is as it
-- is for a first run: version and run 1, generation 1, no attempts, crashes and deferrals.
CREATE TABLE ratchet.lease (
    id uuid PRIMARY KEY,
    node uuid NOT NULL,
    at bigint NOT NULL,
    -- How many members have not left.
    remaining integer NOT NULL,
    -- Whether the handlers have started.
    started boolean NOT NULL,
    -- Whether any member has a key to be freed.
    keyed boolean NOT NULL,
    queue text NOT NULL,
    -- Too random to be worth compressing.
    jobs uuid[] NOT NULL,
    dues bigint[] NOT NULL,
    versions bigint[],
    runs bigint[],
    attempts integer[],
    crashes integer[],
    deferrals integer[],
    generations integer[]
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE ratchet.lease ALTER COLUMN jobs SET STORAGE EXTERNAL, ALTER COLUMN dues SET STORAGE EXTERNAL;
CREATE INDEX lease_node ON ratchet.lease (node);

-- How jobs ended, with their last run. One standing outcome per job: the second fence.
CREATE TABLE ratchet.outcome (
    job uuid PRIMARY KEY,
    at bigint NOT NULL,
    due bigint NOT NULL,
    version bigint NOT NULL,
    run bigint NOT NULL,
    -- The lease, node and start of the last run; none for a job that was canceled while it waited.
    lease uuid,
    node uuid,
    started_at bigint,
    duration bigint,
    attempts integer NOT NULL,
    crashes integer NOT NULL,
    deferrals integer NOT NULL,
    generation integer NOT NULL,
    -- The number of the last attempt within its life.
    attempt integer,
    state smallint NOT NULL,
    -- How the last run ended.
    result smallint,
    -- Why it was canceled.
    cause smallint,
    output text,
    -- Of a failed job: the terminal envelope as JSON, and what it is found by.
    envelope text,
    reason text,
    fingerprint text
) PARTITION BY RANGE (job);
-- Successes are found by their id alone: they are many, and an index is a third of what it costs to write one.
CREATE INDEX outcome_failed ON ratchet.outcome (job) WHERE state = 3;
CREATE INDEX outcome_canceled ON ratchet.outcome (job) WHERE state = 5;

-- Runs that did not end their job, and those whose end was undone by a retry.
CREATE TABLE ratchet.attempt (
    job uuid NOT NULL,
    run bigint NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint NOT NULL,
    due bigint NOT NULL,
    duration bigint NOT NULL,
    node uuid NOT NULL,
    attempt integer NOT NULL,
    generation integer NOT NULL,
    result smallint NOT NULL,
    error text,
    note text,
    PRIMARY KEY (job, run)
) PARTITION BY RANGE (job);

-- What runs left behind.
CREATE TABLE ratchet.note (
    job uuid PRIMARY KEY,
    percent real,
    message text,
    checkpoint text,
    warnings text[] NOT NULL DEFAULT '{}'
) PARTITION BY RANGE (job);
CREATE SEQUENCE ratchet.log_line;
CREATE TABLE ratchet.log (
    job uuid NOT NULL,
    line bigint NOT NULL DEFAULT nextval('ratchet.log_line'),
    run bigint NOT NULL,
    after bigint NOT NULL,
    level smallint NOT NULL,
    message text NOT NULL,
    PRIMARY KEY (job, line)
) PARTITION BY RANGE (job);

-- Idempotency keys, for ever. A scope is a tenant.
CREATE TABLE ratchet.idempotency (
    scope text NOT NULL,
    key text NOT NULL,
    job uuid NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL,
    PRIMARY KEY (scope, key)
);

-- Business keys that are held.
CREATE TABLE ratchet.business (
    scope text NOT NULL,
    key text NOT NULL,
    job uuid NOT NULL,
    PRIMARY KEY (scope, key)
);
CREATE INDEX business_job ON ratchet.business (job);

-- Runs that hold a concurrency key, or are probes of a breaker: then the key is 'probe service/opening'.
CREATE TABLE ratchet.slot (
    job uuid NOT NULL,
    lease uuid NOT NULL,
    version bigint NOT NULL,
    key text NOT NULL,
    queue text NOT NULL,
    PRIMARY KEY (job, lease, version, key)
);
CREATE INDEX slot_key ON ratchet.slot (key);

-- Queues that are paused or limited. The rules are JSON.
CREATE TABLE ratchet.queue (
    name text PRIMARY KEY,
    -- Whether the end of a run makes room.
    limited boolean NOT NULL,
    rules text NOT NULL
);

-- Circuit breakers, as JSON, with what a claim must know of them.
CREATE TABLE ratchet.breaker (
    service text PRIMARY KEY,
    closed boolean NOT NULL,
    -- When probes may go out, if it is not closed; none if an operator must close it.
    until bigint,
    breaker text NOT NULL
) WITH (fillfactor = 50);

-- Runs that are over in the store while their handler may still be running.
CREATE TABLE ratchet.lingering (
    job uuid NOT NULL,
    lease uuid NOT NULL,
    version bigint NOT NULL,
    node uuid NOT NULL,
    canceled boolean NOT NULL,
    PRIMARY KEY (job, lease, version)
);
CREATE INDEX lingering_node ON ratchet.lingering (node);

CREATE TABLE ratchet.node (
    id uuid PRIMARY KEY,
    joined_at bigint NOT NULL,
    until bigint NOT NULL,
    pid bigint NOT NULL,
    host text NOT NULL,
    binary_version text NOT NULL,
    queues text[] NOT NULL,
    names text[] NOT NULL,
    versions integer[] NOT NULL
);

-- Who leads maintenance.
CREATE TABLE ratchet.leader (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    node uuid NOT NULL,
    until bigint NOT NULL
);

CREATE TABLE ratchet.alert (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job uuid NOT NULL,
    at bigint NOT NULL,
    suppressed bigint NOT NULL DEFAULT 0,
    name text NOT NULL,
    fingerprint text NOT NULL,
    message text NOT NULL
);
CREATE INDEX alert_latest ON ratchet.alert (name, fingerprint, id);

-- What waits to be published.
CREATE TABLE ratchet.delivery (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel smallint NOT NULL,
    held_until bigint NOT NULL DEFAULT 0,
    alert bigint,
    envelope text
);
CREATE INDEX delivery_channel ON ratchet.delivery (channel, id);

-- How many jobs ended, as changes that maintenance adds up. Kept apart by the table their outcomes are in: when that is
-- dropped, so are its numbers.
CREATE TABLE ratchet.tally (
    queue text NOT NULL,
    state smallint NOT NULL,
    part oid NOT NULL,
    change bigint NOT NULL
);
