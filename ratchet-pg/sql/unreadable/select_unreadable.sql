-- Jobs that cannot be read, the oldest find first, with what can be told of them.
SELECT u.job, u.cause, u.why, j.queue, j.name
FROM (SELECT * FROM ratchet.unreadable ORDER BY found_at, job LIMIT $1) u
LEFT JOIN LATERAL (SELECT j.queue, j.name FROM ratchet.job j WHERE j.id = u.job OFFSET 0) j ON true
ORDER BY u.found_at, u.job
