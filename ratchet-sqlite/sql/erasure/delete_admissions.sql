-- Deletes the admissions of a job, and those of the hand-offs that it made.
DELETE FROM ratchet_admission WHERE job = ?1 OR handed_by = ?1
