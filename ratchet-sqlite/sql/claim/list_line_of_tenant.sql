-- Jobs of a tenant in the line of a queue, after a position, as one row of JSON.
SELECT json_group_array(json_array(
    json_array(seq, template, sort_key, due, queued_at, fence, run, generation, attempts, crashes, deferrals, slot_limit),
    hex(id), hex(payload), own, slot_key, progress, checkpoint
))
FROM (
    SELECT * FROM ratchet_job
    WHERE state = 0 AND ready = 1 AND queue = ?1 AND tenant = ?7 AND (sort_key, due, id) > (?4, ?5, ?6)
        AND (expires IS NULL OR expires > ?3)
    ORDER BY sort_key, due, id LIMIT ?2
)
