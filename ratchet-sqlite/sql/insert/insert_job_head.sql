-- The start of the insert of new jobs. One list of values per job is appended.
INSERT INTO ratchet_job (id, ready, queue, sort_key, due, queued_at, template, payload, own, scoped_key, slot_key, slot_limit, grp, linked, wait, expires, tenant, state)
VALUES
