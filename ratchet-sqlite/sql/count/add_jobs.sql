-- More or fewer jobs by kind and state: a list of [template, state, jobs].
INSERT INTO ratchet_count (template, state, jobs)
SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1) WHERE true
ON CONFLICT (template, state) DO UPDATE SET jobs = jobs + excluded.jobs
