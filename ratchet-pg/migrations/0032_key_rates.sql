-- Rates per concurrency key. Each queue with such a rate has a row per key that was claimed within the period. A claim reads
-- and writes it while it holds the lock of the queue's rules, so the rate holds over all nodes.
CREATE TABLE ratchet.key_rate (
    queue text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    -- The starts that count, as JSON.
    state text NOT NULL,
    -- Until when the key has used up its rate; null if it had not when it was claimed last.
    full_until bigint,
    -- Whether a claim has passed over a job of the key because the rate was used up.
    waiting boolean NOT NULL,
    -- When no counted claim is left in the period, so that the row can be deleted.
    ends bigint NOT NULL,
    PRIMARY KEY (queue, key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX key_rate_full ON ratchet.key_rate (queue, full_until) WHERE full_until IS NOT NULL;
CREATE INDEX key_rate_ends ON ratchet.key_rate (ends);

-- The lanes of jobs in `blocked` that wait for the rate of their key, by their cause `rate:…`. All jobs of a lane have the
-- same queue, key, limit, name, version, service and conditions, so what else keeps one of them waiting keeps all.
CREATE TABLE ratchet.key_lane (
    cause text PRIMARY KEY,
    queue text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    -- When a claim brings jobs back; null while jobs that were brought back have not been claimed.
    back bigint,
    -- When jobs were set aside or brought back last.
    at bigint NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX key_lane_back ON ratchet.key_lane (queue, back) WHERE back IS NOT NULL;
CREATE INDEX key_lane_key ON ratchet.key_lane (queue, key);
CREATE INDEX key_lane_out ON ratchet.key_lane (at) WHERE back IS NULL;
