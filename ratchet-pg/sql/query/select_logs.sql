-- What a job logged, oldest first.
SELECT run, after, level, message FROM ratchet.log WHERE job = $1 ORDER BY line
