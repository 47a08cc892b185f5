-- All queues with rules.
SELECT name, rules FROM ratchet_queue ORDER BY name
