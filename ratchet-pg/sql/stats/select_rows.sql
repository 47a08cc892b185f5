-- The rows of a tier from one slot up to another, of all queues or one, and of all names or one.
SELECT s.slot, s.queue, s.name, s.submitted, s.started, s.succeeded, s.retried, s.failed, s.deferred, s.released,
    s.rescued, s.canceled, s.timed_out, s.wait, s.run
FROM ratchet.stat s
WHERE s.tier = $1 AND s.slot >= $2 AND s.slot < $3 AND ($4::text IS NULL OR s.queue = $4)
    AND ($5::text IS NULL OR s.name = $5)
