-- One row with the result of the exchange, then one per queue with claimed jobs (`line` is the number of the queue),
-- then one per job that had to be looked up. Settles successes, then claims, in one commit.
WITH clock AS MATERIALIZED (SELECT ratchet.now_micros() AS now),
