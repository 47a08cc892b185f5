-- Every queue that has rules.
SELECT name, rules FROM ratchet_queue ORDER BY name
