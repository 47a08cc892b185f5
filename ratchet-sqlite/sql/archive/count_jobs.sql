-- Adds the jobs with these ids (a list of seq) to the counts of the archive, or subtracts them: the factor is 1 or -1.
INSERT INTO main.ratchet_count (template, state, jobs)
SELECT template, state, ?2 * count(*) FROM main.ratchet_job
WHERE seq IN (SELECT value FROM json_each(?1)) GROUP BY template, state
ON CONFLICT (template, state) DO UPDATE SET jobs = jobs + excluded.jobs
