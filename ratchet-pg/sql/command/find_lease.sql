-- The leases that have this job as a member.
SELECT id FROM ratchet.lease WHERE remaining > 0 AND $1 = ANY(jobs)
