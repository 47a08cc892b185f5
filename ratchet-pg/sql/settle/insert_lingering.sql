-- No rows. Inserts runs that are over while their handlers are still running.
INSERT INTO ratchet.lingering (job, lease, version, node, canceled, queue)
SELECT x.job, x.lease, x.version, x.node, $5, (SELECT j.queue FROM ratchet.job j WHERE j.id = x.job)
FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[]) AS x(job, lease, version, node)
