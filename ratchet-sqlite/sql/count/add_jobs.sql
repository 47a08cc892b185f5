-- Adds changes to the job counts: a list of [template, state, jobs]. A damaged count is clamped, because an overflow
-- would fail every transaction.
INSERT INTO ratchet_count (template, state, jobs)
SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1) WHERE true
ON CONFLICT (template, state) DO UPDATE SET jobs = max(min(jobs, 4611686018427387904), -4611686018427387904) + excluded.jobs
