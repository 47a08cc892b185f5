-- The queues that have lanes. One lookup finds the next one.
WITH RECURSIVE queues AS (
    (SELECT l.queue FROM ratchet.key_lane l WHERE l.queue > '' ORDER BY l.queue LIMIT 1)
    UNION ALL
    SELECT (SELECT l.queue FROM ratchet.key_lane l WHERE l.queue > q.queue ORDER BY l.queue LIMIT 1)
    FROM queues q WHERE q.queue IS NOT NULL
)
SELECT q.queue FROM queues q WHERE q.queue IS NOT NULL
