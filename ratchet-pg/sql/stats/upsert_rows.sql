-- No rows. Writes the rows of a tier, or replaces them.
INSERT INTO ratchet.stat (tier, source, slot, queue, name, submitted, started, succeeded, retried, failed, deferred,
    released, rescued, canceled, timed_out, wait, run)
SELECT $1, $2, u.* FROM unnest($3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[],
    $16::bytea[], $17::bytea[]) u
ON CONFLICT (tier, slot, queue, name, source) DO UPDATE SET
    submitted = EXCLUDED.submitted, started = EXCLUDED.started, succeeded = EXCLUDED.succeeded,
    retried = EXCLUDED.retried, failed = EXCLUDED.failed, deferred = EXCLUDED.deferred, released = EXCLUDED.released,
    rescued = EXCLUDED.rescued, canceled = EXCLUDED.canceled, timed_out = EXCLUDED.timed_out, wait = EXCLUDED.wait,
    run = EXCLUDED.run
