-- The rules of these queues, locked in a fixed order.
SELECT name, rules FROM ratchet.queue WHERE name = ANY($1::text[]) ORDER BY name FOR UPDATE
