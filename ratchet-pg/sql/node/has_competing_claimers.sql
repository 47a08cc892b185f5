-- One row: whether another live node holds jobs of these queues that it claimed within the last second.
SELECT EXISTS (
    SELECT FROM ratchet.node n CROSS JOIN (SELECT ratchet.now_micros() AS now) c
    WHERE n.id <> $1 AND n.until > c.now AND (
        SELECT max(l.at) FROM ratchet.lease l
        WHERE l.node = n.id AND l.at > c.now - 1000000 AND l.remaining > 0 AND l.queue = ANY ($2::text[])
    ) IS NOT NULL
)
