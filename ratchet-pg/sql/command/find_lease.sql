-- The leases that have the job among their members.
SELECT id FROM ratchet.lease WHERE remaining > 0 AND $1 = ANY(jobs)
