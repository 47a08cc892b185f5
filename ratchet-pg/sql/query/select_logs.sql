-- The log lines of a job, oldest first.
SELECT run, after, level, message FROM ratchet.log WHERE job = $1 ORDER BY line
