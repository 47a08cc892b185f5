-- What was counted in a slot of time, by queue, job name and process. The process is nil in all tiers but the first.
-- Tiers: 0 minute, 1 ten minutes, 2 hour, 3 day. A slot is the number of such periods since 1970.
CREATE TABLE ratchet.stat (
    slot bigint NOT NULL,
    source uuid NOT NULL,
    submitted bigint NOT NULL,
    started bigint NOT NULL,
    succeeded bigint NOT NULL,
    retried bigint NOT NULL,
    failed bigint NOT NULL,
    deferred bigint NOT NULL,
    released bigint NOT NULL,
    rescued bigint NOT NULL,
    canceled bigint NOT NULL,
    timed_out bigint NOT NULL,
    tier smallint NOT NULL,
    queue text NOT NULL,
    name text NOT NULL,
    -- Histograms of the time that jobs waited and ran.
    wait bytea NOT NULL,
    run bytea NOT NULL,
    PRIMARY KEY (tier, slot, queue, name, source)
) WITH (fillfactor = 80);

-- Slots whose sum must be computed, because a slot of the tier below has changed. Every writer of a slot locks its mark
-- until the commit, so that a sum that removes the mark includes what the writer has written.
CREATE TABLE ratchet.stat_mark (
    tier smallint NOT NULL,
    slot bigint NOT NULL,
    PRIMARY KEY (tier, slot)
) WITH (fillfactor = 50);

-- The state of a queue in a slot of time.
CREATE TABLE ratchet.gauge (
    slot bigint NOT NULL,
    -- When the slot was sampled last.
    at bigint NOT NULL,
    depth bigint NOT NULL,
    running bigint NOT NULL,
    paused bigint NOT NULL,
    failed bigint NOT NULL,
    -- The longest of all samples of the slot.
    oldest_age bigint NOT NULL,
    tier smallint NOT NULL,
    blocked_by smallint,
    queue text NOT NULL,
    PRIMARY KEY (tier, slot, queue)
) WITH (fillfactor = 80);

-- The first appearance of each version of a program.
CREATE TABLE ratchet.deploy (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    program text NOT NULL,
    binary_version text NOT NULL
);
CREATE INDEX deploy_at ON ratchet.deploy (at);
CREATE INDEX deploy_program ON ratchet.deploy (program, id);
