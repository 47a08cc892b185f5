-- One row of tidings, then one per queue with claimed jobs (`line` is its place), then one per job that had to be looked up:
-- settles successes, then claims, in one commit.
WITH clock AS MATERIALIZED (
    SELECT c.now, EXISTS (
        SELECT FROM ratchet.node n WHERE n.id <> $5 AND n.until > c.now AND n.queues && $1::text[]
    ) AS company
    FROM (SELECT ratchet.now_micros() AS now) c
),
