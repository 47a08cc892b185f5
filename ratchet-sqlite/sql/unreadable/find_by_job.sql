-- What is recorded of a job whose id can be read by now.
SELECT unreadable.seq, unreadable.cause, unreadable.why
FROM ratchet_job AS job CROSS JOIN ratchet_unreadable AS unreadable ON unreadable.seq = job.seq
WHERE job.id = ?1
