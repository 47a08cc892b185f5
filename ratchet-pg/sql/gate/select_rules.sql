-- Every queue that has rules, or the one that is asked for.
SELECT name, rules FROM ratchet.queue WHERE $1::text IS NULL OR name = $1 ORDER BY name
