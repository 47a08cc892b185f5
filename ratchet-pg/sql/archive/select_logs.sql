-- The log lines of an archived job, oldest first.
SELECT run, after, level, message FROM ratchet_archive.log WHERE job = $1 ORDER BY line
