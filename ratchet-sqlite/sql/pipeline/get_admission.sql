-- The hand-off that was admitted as a job.
SELECT pipeline, key, handed_by, handed_at, at FROM ratchet_admission WHERE job = ?1
