-- One row if the node lives: the store's clock, and whether others have claimed in these queues within the last second.
SELECT c.now, EXISTS (
    SELECT FROM ratchet.node n
    WHERE n.id <> $1 AND n.until > c.now AND (
        SELECT max(l.at) FROM ratchet.lease l
        WHERE l.node = n.id AND l.at > c.now - 1000000 AND l.remaining > 0 AND l.queue = ANY ($2::text[])
    ) IS NOT NULL
) AS company
FROM (SELECT ratchet.now_micros() AS now) c
WHERE EXISTS (SELECT FROM ratchet.node WHERE id = $1 AND until > c.now)
