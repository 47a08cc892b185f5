-- The runs of an archived job, oldest first: those in the history, and the one that ended the job.
SELECT run, attempt, generation, node, started_at, finished_at, due, duration, result, error, note, NULL AS envelope
FROM ratchet_archive.attempt WHERE job = $1
UNION ALL
SELECT run, attempt, generation, node, started_at, at, due, duration, result, NULL, NULL, envelope
FROM ratchet_archive.outcome WHERE job = $1 AND started_at IS NOT NULL
ORDER BY run
