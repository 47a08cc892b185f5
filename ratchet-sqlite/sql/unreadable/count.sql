-- The number of jobs that cannot be read.
SELECT count(*) FROM ratchet_unreadable
