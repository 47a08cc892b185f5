-- Writes a row, or replaces it.
INSERT INTO ratchet_stat
    (tier, slot, queue, name, source, submitted, started, succeeded, retried, failed, deferred, released, rescued,
     canceled, timed_out, wait, run)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
ON CONFLICT DO UPDATE
SET submitted = excluded.submitted, started = excluded.started, succeeded = excluded.succeeded,
    retried = excluded.retried, failed = excluded.failed, deferred = excluded.deferred, released = excluded.released,
    rescued = excluded.rescued, canceled = excluded.canceled, timed_out = excluded.timed_out, wait = excluded.wait,
    run = excluded.run
