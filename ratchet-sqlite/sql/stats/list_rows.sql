-- The rows of a tier from one slot up to another, of all queues or one, and of all names or one.
SELECT slot, queue, name, submitted, started, succeeded, retried, failed, deferred, released, rescued, canceled,
       timed_out, wait, run
FROM ratchet_stat
WHERE tier = ?1 AND slot >= ?2 AND slot < ?3 AND (?4 IS NULL OR queue = ?4) AND (?5 IS NULL OR name = ?5)
