-- No rows: a queue that has no rules any more.
DELETE FROM ratchet.queue WHERE name = $1
