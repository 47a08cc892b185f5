-- One row of tidings (`job` is null), then one per claimed job: settles successes, then claims, in one commit.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
