-- The outcomes of these jobs and the leases of their last runs. Locks those that no other transaction has locked.
SELECT o.job, o.state, o.lease
FROM unnest($1::uuid[]) AS x(job)
CROSS JOIN LATERAL (SELECT o.job, o.state, o.lease FROM ratchet.outcome o WHERE o.job = x.job FOR UPDATE SKIP LOCKED) o
ORDER BY o.job
