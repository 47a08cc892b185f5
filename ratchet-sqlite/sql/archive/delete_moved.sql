-- Ends the moves of jobs that are no longer in the file of the jobs.
DELETE FROM main.ratchet_archiving WHERE NOT EXISTS (SELECT 1 FROM live.ratchet_job WHERE id = job)
