-- The jobs whose move has not ended and that are still in the file of the jobs.
SELECT job FROM main.ratchet_archiving WHERE EXISTS (SELECT 1 FROM live.ratchet_job WHERE id = job)
