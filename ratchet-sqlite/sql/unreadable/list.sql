-- Jobs that cannot be read, ordered by seq, with the columns that may be readable.
SELECT unreadable.id, unreadable.cause, unreadable.why, job.queue,
       (SELECT name FROM ratchet_template WHERE id = job.template) AS name
FROM ratchet_unreadable AS unreadable CROSS JOIN ratchet_job AS job ON job.seq = unreadable.seq
ORDER BY unreadable.seq LIMIT ?1
