-- The notes that earlier runs of these jobs have stored.
SELECT n.job, n.percent, n.message, n.checkpoint
FROM unnest($1::uuid[]) AS x(job) CROSS JOIN LATERAL (SELECT * FROM ratchet.note n WHERE n.job = x.job OFFSET 0) n
