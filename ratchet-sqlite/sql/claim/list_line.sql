-- Jobs in the line of a queue, from its start, as one row of JSON. Separate rows would cost more than the claim itself.
SELECT json_group_array(json_array(
    json_array(seq, template, sort_key, due, queued_at, fence, run, generation, attempts, crashes, deferrals, slot_limit),
    hex(id), hex(payload), own, slot_key, progress, checkpoint
))
FROM (
    SELECT * FROM ratchet_job
    WHERE state = 0 AND ready = 1 AND queue = ?1 AND (expires IS NULL OR expires > ?3)
    ORDER BY sort_key, due, id LIMIT ?2
)
