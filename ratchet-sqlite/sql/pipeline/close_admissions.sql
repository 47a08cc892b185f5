-- Stops counting the admissions of a pipeline whose jobs have ended.
UPDATE ratchet_admission AS a SET open = 0
WHERE a.pipeline = ?1 AND a.open = 1
  AND NOT EXISTS (SELECT 1 FROM ratchet_job j WHERE j.id = a.job AND (j.state IN (0, 1) OR j.state = 4 AND j.paused_from = 0))
