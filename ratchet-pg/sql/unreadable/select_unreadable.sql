-- Jobs that cannot be read, in the order in which they were found, with their queues and names.
SELECT u.job, u.cause, u.why, j.queue, j.name
FROM (SELECT * FROM ratchet.unreadable ORDER BY found_at, job LIMIT $1) u
LEFT JOIN LATERAL (SELECT j.queue, j.name FROM ratchet.job j WHERE j.id = u.job OFFSET 0) j ON true
ORDER BY u.found_at, u.job
