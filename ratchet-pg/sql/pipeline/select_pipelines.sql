-- Pipelines that a job accepts, with their backlogs: all, or the one with a name.
SELECT p.name, p.program, p.job, p.backlog_limit, p.refusals,
    (SELECT count(*) FROM ratchet.hand_off h WHERE h.pipeline = p.name AND NOT h.finished)
    + (SELECT count(*) FROM ratchet.admission a WHERE a.pipeline = p.name AND a.open
        AND EXISTS (SELECT 1 FROM ratchet.job j WHERE j.id = a.job)
    AND NOT EXISTS (SELECT 1 FROM ratchet.outcome o WHERE o.job = a.job)) AS backlog
FROM ratchet.pipeline p WHERE $1::text IS NULL OR p.name = $1 ORDER BY p.name COLLATE "C"
