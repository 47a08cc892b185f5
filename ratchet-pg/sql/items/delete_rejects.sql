-- No rows. Deletes rejects that were handled.
DELETE FROM ratchet.reject r USING unnest($1::uuid[], $2::bigint[]) AS x(job, number)
WHERE r.job = x.job AND r.number = x.number
