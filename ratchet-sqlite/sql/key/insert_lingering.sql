-- Inserts a run that is over while its handler may still be running.
INSERT INTO ratchet_lingering (job, lease, fence, node, canceled, slot_key, queue, probe)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (job, lease, fence) DO UPDATE SET node = excluded.node, canceled = excluded.canceled
