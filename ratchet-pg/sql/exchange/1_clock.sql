-- One row of tidings, then one per queue with claimed jobs (`line` is its place), then one per job that had to be
-- looked up: settles successes, then claims, in one commit.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
