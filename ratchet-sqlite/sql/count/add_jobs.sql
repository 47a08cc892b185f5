-- More or fewer jobs of a kind in a state.
INSERT INTO ratchet_count (template, state, jobs) VALUES (?1, ?2, ?3)
ON CONFLICT (template, state) DO UPDATE SET jobs = jobs + excluded.jobs
