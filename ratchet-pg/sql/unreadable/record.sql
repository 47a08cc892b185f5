-- No rows. Records jobs that cannot be read. Updates the cause of jobs that were recorded before.
INSERT INTO ratchet.unreadable (job, found_at, cause, why)
SELECT b.job, ratchet.now_micros(), b.cause, b.why FROM unnest($1::uuid[], $2::text[], $3::text[]) AS b(job, cause, why)
ORDER BY b.job
ON CONFLICT (job) DO UPDATE SET cause = EXCLUDED.cause, why = EXCLUDED.why
