-- Jobs in line on a queue, from its start.
SELECT seq, id, template, payload, own, slot_key, slot_limit, fence, run, generation, attempts, crashes, deferrals,
       queued_at, due, progress, checkpoint, sort_key
FROM ratchet_job
WHERE state = 0 AND ready = 1 AND queue = ?1
ORDER BY sort_key, due, id LIMIT ?2
