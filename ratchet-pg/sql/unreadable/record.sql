-- No rows: these jobs cannot be read. What is known of one that was met before is replaced.
INSERT INTO ratchet.unreadable (job, found_at, cause, why)
SELECT b.job, ratchet.now_micros(), b.cause, b.why FROM unnest($1::uuid[], $2::text[], $3::text[]) AS b(job, cause, why)
ORDER BY b.job
ON CONFLICT (job) DO UPDATE SET cause = EXCLUDED.cause, why = EXCLUDED.why
