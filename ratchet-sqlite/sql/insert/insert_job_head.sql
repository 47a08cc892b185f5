-- One row per new job; the rows of values are repeated behind it.
INSERT INTO ratchet_job (id, ready, queue, sort_key, due, queued_at, template, payload, own, scoped_key, slot_key, slot_limit, grp, linked, wait, state)
VALUES
