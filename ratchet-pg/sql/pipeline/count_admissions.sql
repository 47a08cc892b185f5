-- One row: how many hand-offs of a pipeline were admitted, how many of them have jobs that have not ended, and when the oldest
-- of these was handed over.
SELECT (SELECT count(*) FROM ratchet.admission x WHERE x.pipeline = $1) AS admitted, count(*) AS open, min(a.handed_at) AS oldest
FROM ratchet.admission a
WHERE a.pipeline = $1 AND a.open AND EXISTS (SELECT 1 FROM ratchet.job j WHERE j.id = a.job)
    AND NOT EXISTS (SELECT 1 FROM ratchet.outcome o WHERE o.job = a.job)
