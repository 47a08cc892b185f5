-- Deletes all counts, before the jobs are counted again.
DELETE FROM ratchet_count
