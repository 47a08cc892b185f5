-- All queues with rules, or one of them.
SELECT name, rules FROM ratchet.queue WHERE $1::text IS NULL OR name = $1 ORDER BY name
