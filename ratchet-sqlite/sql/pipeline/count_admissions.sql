-- How many hand-offs of a pipeline were admitted, how many of them have jobs that have not ended, and when the oldest of
-- these was handed over.
SELECT (SELECT count(*) FROM ratchet_admission WHERE pipeline = ?1), count(*), min(a.handed_at)
FROM ratchet_admission a
WHERE a.pipeline = ?1 AND a.open = 1
  AND EXISTS (SELECT 1 FROM ratchet_job j WHERE j.id = a.job AND (j.state IN (0, 1) OR j.state = 4 AND j.paused_from = 0))
