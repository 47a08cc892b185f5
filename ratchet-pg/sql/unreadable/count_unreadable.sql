-- One row: the number of jobs that cannot be read.
SELECT count(*) FROM ratchet.unreadable
