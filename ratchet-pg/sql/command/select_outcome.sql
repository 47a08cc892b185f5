-- The outcome of a failed job that is not paused.
SELECT o.version, o.due, o.run, o.attempts, o.crashes, o.deferrals, o.generation FROM ratchet.outcome o
WHERE o.job = $1 AND o.state = 3 AND NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
