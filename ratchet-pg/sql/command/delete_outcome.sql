-- The outcome of a failed job, with its last run, which goes to the history.
DELETE FROM ratchet.outcome o
WHERE o.job = $1 AND o.state = 3 AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
RETURNING o.at, o.due, o.version, o.run, o.node, o.started_at, o.duration, o.generation, o.attempt, o.result, o.envelope
