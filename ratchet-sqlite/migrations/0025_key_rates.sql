-- Rates per concurrency key: a row per key that was claimed within the period, of each queue with such a rate.
CREATE TABLE ratchet_key_rate (
    queue      TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    -- The starts that count, as JSON.
    state      TEXT    NOT NULL,
    -- Until when the key has used up its rate; NULL if it had not when it was claimed last.
    full_until INTEGER,
    -- Whether a claim has passed over a job of the key because the rate was used up.
    waiting    INTEGER NOT NULL,
    -- When no counted claim is left in the period, so that the row can be deleted.
    ends       INTEGER NOT NULL,
    PRIMARY KEY (queue, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX ratchet_key_rate_full ON ratchet_key_rate (queue, full_until) WHERE full_until IS NOT NULL;
CREATE INDEX ratchet_key_rate_ends ON ratchet_key_rate (ends);

-- When a claim brings back jobs of a lane that waits for the rate of its key, and when jobs were brought back that have not
-- been claimed since.
ALTER TABLE ratchet_aside ADD COLUMN back INTEGER;
ALTER TABLE ratchet_aside ADD COLUMN brought INTEGER;
CREATE INDEX ratchet_aside_back ON ratchet_aside (queue, back) WHERE back IS NOT NULL;
CREATE INDEX ratchet_aside_brought ON ratchet_aside (brought) WHERE brought IS NOT NULL;
