-- The record of a job that could not be read, whose id is readable by now.
SELECT unreadable.seq, unreadable.cause, unreadable.why
FROM ratchet_job AS job CROSS JOIN ratchet_unreadable AS unreadable ON unreadable.seq = job.seq
WHERE job.id = ?1
