-- No rows. Records when jobs expire.
INSERT INTO ratchet.expiry (job, at) SELECT * FROM unnest($1::uuid[], $2::bigint[]) AS e(job, at) ORDER BY job
ON CONFLICT (job) DO UPDATE SET at = excluded.at
