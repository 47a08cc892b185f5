-- The runs that were lingering, and their queues. Deletes them.
DELETE FROM ratchet.lingering x USING unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS t(job, lease, version)
WHERE x.job = t.job AND x.lease = t.lease AND x.version = t.version
RETURNING x.job, x.lease, x.version, x.queue
