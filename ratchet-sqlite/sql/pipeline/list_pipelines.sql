-- Pipelines that a job accepts, with their backlogs: all, or the one with a name.
SELECT p.name, p.program, p.job, p.backlog_limit, p.refusals,
       (SELECT count(*) FROM ratchet_hand_off h WHERE h.pipeline = p.name AND h.finished = 0)
       + (SELECT count(*) FROM ratchet_admission a WHERE a.pipeline = p.name AND a.open = 1
            AND EXISTS (SELECT 1 FROM ratchet_job j WHERE j.id = a.job AND (j.state IN (0, 1) OR j.state = 4 AND j.paused_from = 0)))
FROM ratchet_pipeline p WHERE ?1 IS NULL OR p.name = ?1 ORDER BY p.name
