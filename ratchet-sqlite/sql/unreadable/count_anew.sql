-- Counts all jobs by template and state.
INSERT INTO ratchet_count (template, state, jobs)
SELECT template, state, count(*) FROM ratchet_job WHERE state BETWEEN 0 AND 5 GROUP BY template, state
