-- No rows. Stops counting the admissions of a pipeline whose jobs have ended.
UPDATE ratchet.admission a SET open = false
WHERE a.pipeline = $1 AND a.open AND NOT (EXISTS (SELECT 1 FROM ratchet.job j WHERE j.id = a.job)
    AND NOT EXISTS (SELECT 1 FROM ratchet.outcome o WHERE o.job = a.job))
