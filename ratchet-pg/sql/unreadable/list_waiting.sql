-- Jobs in `ready` after a position, in order.
SELECT r.ctid::text AS row_id, r.job, r.sort_key, r.due
FROM ratchet.ready r
WHERE r.queue = $1 AND (r.sort_key, r.due, r.job) > ($2, $3, $4)
ORDER BY r.sort_key, r.due, r.job LIMIT $5
