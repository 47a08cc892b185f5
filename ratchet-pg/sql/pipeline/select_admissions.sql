-- The hand-offs that were admitted as these jobs.
SELECT a.job, a.pipeline, a.key, a.handed_by, a.handed_at, a.at FROM ratchet.admission a WHERE a.job = ANY ($1::uuid[])
