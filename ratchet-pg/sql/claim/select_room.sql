-- One row if the node lives: the store's clock, and whether others that live serve these queues.
SELECT c.now, EXISTS (SELECT FROM ratchet.node n WHERE n.id <> $1 AND n.until > c.now AND n.queues && $2::text[]) AS company
FROM (SELECT ratchet.now_micros() AS now) c
WHERE EXISTS (SELECT FROM ratchet.node WHERE id = $1 AND until > c.now)
