-- One row of tidings, then one per queue with claimed jobs (`line` is its place), then one per job that had to be looked up:
-- settles successes, then claims, in one commit. Company is who has claimed in these queues within the last second.
WITH clock AS MATERIALIZED (
    SELECT c.now, EXISTS (
        SELECT FROM ratchet.node n
        WHERE n.id <> $5 AND n.until > c.now AND (
            SELECT max(l.at) FROM ratchet.lease l
            WHERE l.node = n.id AND l.at > c.now - 1000000 AND l.remaining > 0 AND l.queue = ANY ($1::text[])
        ) IS NOT NULL
    ) AS company
    FROM (SELECT ratchet.now_micros() AS now) c
),
